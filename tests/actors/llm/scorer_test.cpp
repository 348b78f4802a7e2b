#include "actors/torch/torch.hpp"

#include "actors/llm/scorer/scorer.hpp"

#include "actors/llm/generator/generation_engine.hpp"
#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/model/read_model.hpp"
#include "actors/llm/training/token_groups.hpp"
#include "tests/paths.hpp"
#include "tests/runtime/support.hpp"

namespace troupe::llm {
namespace {

using namespace testing;

language_model fixture(const std::string& name) {
  return read_model(testing::source_path("tests/fixtures/llm/models/") + name);
}

std::vector<completion> some_group(const language_model& m, double temperature, std::uint64_t seed,
                                   std::vector<token_id>& prompt) {
  generation_engine e(pack_weights(m.config, m.weights), 1, {.prefill_tokens = 7});
  for (int i = 0; i < 40; ++i) prompt.push_back((i * 31 + 7) % 64);
  const auto which = e.submit({.prompt = prompt,
                               .max_tokens = 100,
                               .sampling = {.temperature = temperature, .seed = seed},
                               .stop_at_eos = false},
                              6);
  while (e.step()) {
  }
  return e.take(which);
}

score_request of_answer(const std::vector<token_id>& prompt, const completion& answer,
                        double temperature) {
  score_request r{prompt, std::ssize(prompt), temperature};
  r.tokens.insert(r.tokens.end(), answer.tokens.begin(), answer.tokens.end());
  return r;
}

TEST_CASE("log-probabilities: generator, scorer and trainer agree on 600 tokens") {
  for (const auto* name : {"llama", "llama_linear", "qwen2", "qwen3"}) {
    for (const double temperature : {1.0, 0.6}) {
      CAPTURE(name, temperature);
      const auto m = fixture(name);
      std::vector<token_id> prompt;
      const auto group = some_group(m, temperature, 11, prompt);
      token_scorer s(pack_weights(m.config, m.weights));
      std::vector<score_request> requests;
      token_group trained{prompt, {}};
      for (const auto& one : group) {
        requests.push_back(of_answer(prompt, one, temperature));
        trained.answers.push_back(one.tokens);
      }
      const auto scores = s.score(requests);
      const auto by_trainer = answer_log_probs(m.config, m.weights, {&trained, 1},
                                               {.log_probs = {.temperature = temperature}});
      double from_scorer = 0, from_trainer = 0;
      std::int64_t token = 0;
      for (std::size_t i = 0; i < group.size(); ++i) {
        REQUIRE(scores[i].size() == 100);
        for (std::size_t t = 0; t < 100; ++t, ++token) {
          const double drawn = group[i].log_probs[t];
          from_scorer = std::max(from_scorer, std::abs(scores[i][t] - drawn));
          from_trainer = std::max(from_trainer, std::abs(by_trainer[token].item<double>() - drawn));
        }
      }
      CHECK(token == 600);
      CHECK(from_scorer == 0);     // the same bits
      CHECK(from_trainer < 2e-6);  // the same logits; their logarithm in float
    }
  }
}

TEST_CASE("scorer: what texts begin with is computed once, and doesn't change the scores") {
  const auto m = fixture("llama");
  std::vector<token_id> prompt;
  const auto group = some_group(m, 1.0, 5, prompt);
  token_scorer together(pack_weights(m.config, m.weights)), alone = together;
  std::vector<score_request> requests;
  for (const auto& one : group) requests.push_back(of_answer(prompt, one, 1.0));
  const auto scores = together.score(requests);
  CHECK(together.computed() == 39 + 6 * 100);  // the last token predicts nothing
  for (std::size_t i = 0; i < requests.size(); ++i)
    CHECK(alone.score({&requests[i], 1}).front() == scores[i]);
  // From the first token on, in more than one part.
  const score_request whole{requests[0].tokens, 1, 1.0};
  const auto all = alone.score({&whole, 1}).front();
  REQUIRE(all.size() == 139);
  CHECK(all.back() == Approx(scores[0].back()).margin(1e-6));
}

TEST_CASE("scorer: what can't be scored is refused by name") {
  const auto m = fixture("llama");
  const token_scorer s(pack_weights(m.config, m.weights));
  CHECK_THROWS_WITH(s.check({{5}, 1, 1}), has_text("tokens: expected at least 2, got 1"));
  CHECK_THROWS_WITH(s.check({std::vector<token_id>(300, 1), 1, 1}),
                    has_text("at most the context of 256, got 300"));
  CHECK_THROWS_WITH(s.check({{5, 64}, 1, 1}), has_text("ids from 0 to 63, got 64"));
  CHECK_THROWS_WITH(s.check({{5, 6}, 2, 1}), has_text("given: expected 1 to 1 of 2 tokens, got 2"));
  CHECK_THROWS_WITH(s.check({{5, 6}, 0, 1}), has_text("got 0"));
  CHECK_THROWS_WITH(s.check({{5, 6}, 1, std::nan("")}), has_text("temperature: expected"));
}

task<scored_tokens> score(service<scorer> by, score_request request) {
  co_return co_await by.route<&scorer::score>(std::move(request));
}

task<> frozen(system& sys) {
  const auto m = fixture("qwen3");
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  weights first{3, flatten_weights(m.config, m.weights), {}};
  co_await store.route<&weight_store::put>(first);
  auto scorers = co_await sys.serve<scorer>({.name = "reference"}, m.config, store);
  auto all_of =
      co_await all(score(scorers, {{5, 6, 7, 8}, 2, 1}), error_of(score(scorers, {{5, 99}, 1, 1})),
                   score(scorers, {{5, 9}, 1, 1}));
  CHECK(std::get<0>(all_of).log_probs.size() == 2);
  CHECK(std::get<0>(all_of).version == 3);
  CHECK_THAT(std::get<1>(all_of), has_text("ids from 0 to 63, got 99"));
  CHECK(std::get<2>(all_of).log_probs.size() == 1);

  weights next{4, (first.parameters * 1.5).contiguous(), {}};
  co_await store.route<&weight_store::put>(next);  // and nobody gives it to the reference model
  const auto same = co_await score(scorers, {{5, 6, 7, 8}, 2, 1});
  CHECK(same.log_probs == std::get<0>(all_of).log_probs);
  co_await scorers.fanout<&scorer::update>(next);
  const auto other = co_await score(scorers, {{5, 6, 7, 8}, 2, 1});
  CHECK(other.version == 4);
  CHECK(other.log_probs != same.log_probs);
  co_await scorers.fanout<&scorer::update>(first);  // older, so ignored
  const auto still = co_await score(scorers, {{5, 6, 7, 8}, 2, 1});
  CHECK(still.version == 4);
  CHECK(still.log_probs == other.log_probs);
}

TEST_CASE("scorer: weights stay until they are updated; a bad request is its caller's alone") {
  play(frozen);
}

}  // namespace
}  // namespace troupe::llm

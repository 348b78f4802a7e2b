#include "actors/torch/torch.hpp"

#include "actors/llm/training/token_groups.hpp"

#include "tests/actors/llm/small_models.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

namespace troupe::llm {
namespace {

using Catch::Matchers::Contains;

trained_weights lively_model(const model_config& config) {
  return train_weights(config, lively_weights(config));
}

const std::vector<token_group> groups{
    {{1, 2, 3, 4, 5}, {{6, 7}, {8}, {9, 10, 11, 12}, {6, 7}}},
    {{13}, {{14, 15, 16}}},
    {{17, 18, 19}, {{20, 21}, {22, 23, 24, 25, 26}}},
};

// All prompts begin with 1 2 3, and one is no more than that.
const std::vector<token_group> alike{
    {{1, 2, 3, 4, 5}, {{6, 7}, {8}}},
    {{1, 2, 3}, {{14, 15, 16}, {4, 5}}},
    {{1, 2, 3, 19}, {{20, 21}}},
};

// Every answer by itself after its own copy of the prompt, by libtorch's log_softmax of all logits.
token_scores unpacked_scores(const model_config& config, const model_weights& weights,
                             const std::vector<token_group>& some, double temperature) {
  std::vector<at::Tensor> log_probs, entropies;
  for (const auto& group : some) {
    for (const auto& answer : group.answers) {
      packed_tokens tokens{group.prompt, {}};
      tokens.ids.insert(tokens.ids.end(), answer.begin(), answer.end());
      tokens.lengths = {std::int64_t(tokens.ids.size())};
      const auto logits = logits_of(config, weights, packed_hidden(config, weights, tokens));
      const auto all = (logits / temperature).log_softmax(-1);
      const auto rows =
          all.narrow(0, std::int64_t(group.prompt.size()) - 1, std::int64_t(answer.size()));
      const auto ids = at::tensor(answer, at::kInt).to(at::kLong).unsqueeze(1);
      log_probs.push_back(rows.gather(1, ids).squeeze(1));
      entropies.push_back(-(rows.exp() * rows).sum(-1));
    }
  }
  return {at::cat(log_probs), at::cat(entropies)};
}

// Differently weighted, so that no two tokens' gradients can be mistaken for one another.
at::Tensor mixed(const token_scores& scores) {
  const auto weights = at::linspace(-1.0, 2.0, scores.log_probs.size(0));
  return (weights * scores.log_probs).sum() + (weights.flip(0) * scores.entropy).sum();
}

double farthest(const at::Tensor& a, const at::Tensor& b) {
  REQUIRE(a.sizes() == b.sizes());
  return (a - b).abs().max().item<double>();
}

TEST_CASE("token groups: scores and gradients are those of every answer with its own prompt") {
  for (const auto family : every_family) {
    for (const auto& [some, temperature] :
         {std::pair(groups, 1.0), std::pair(groups, 0.7), std::pair(alike, 1.0)}) {
      const auto config = small_model(family);
      auto packed = lively_model(config);
      auto alone = lively_model(config);
      const auto expected = unpacked_scores(config, alone.weights, some, temperature);
      CHECK(expected.log_probs.std().item<double>() > 0.5);  // or anything would be near
      mixed(expected).backward();
      const auto scores = answer_scores(
          config, packed.weights, some,
          {.log_probs = {.temperature = temperature, .entropy = true, .rows_at_once = 4}});
      CHECK(farthest(scores.log_probs, expected.log_probs) < 1e-5);
      CHECK(farthest(scores.entropy, expected.entropy) < 1e-5);
      mixed(scores).backward();
      const double size = alone.gradient.abs().max().item<double>();
      CHECK(size > 0.1);
      CHECK(farthest(packed.gradient, alone.gradient) < 1e-5 * std::max(1.0, size));
    }
  }
}

TEST_CASE("token groups: what all prompts begin with is there once") {
  const auto packed = pack_groups(alike);
  // 1 2 is shared; each prompt has a token of its own.
  CHECK(packed.tokens.ids ==
        std::vector<token_id>{1, 2, 3, 4, 5, 6, 7, 8, 3, 14, 15, 16, 4, 5, 3, 19, 20, 21});
  CHECK(packed.tokens.lengths == std::vector<std::int64_t>{2, 3, 2, 1, 1, 3, 2, 2, 2});
  CHECK(packed.tokens.parents == std::vector<std::int64_t>{-1, 0, 1, 1, 0, 4, 4, 0, 7});
  CHECK(pack_groups(groups).tokens.ids.size() == 28);
}

TEST_CASE("token groups: what was read is attended to, and neither scored nor learned") {
  const auto config = small_model(model_family::llama);
  auto whole = lively_model(config), parts = lively_model(config);
  auto marked = groups;
  marked[0].read = {{}, {}, {{0, 1}, {2, 3}}, {{0, 1}}};  // one that begins with it, too
  marked[2].read = {{}, {{1, 3}}};
  const auto all = answer_log_probs(config, whole.weights, groups);
  const auto scored = answer_log_probs(config, parts.weights, marked);
  // Of 6 7 | 8 | 9 10 11 12 | 6 7 | 14 15 16 | 20 21 | 22 23 24 25 26.
  const auto kept = at::tensor({0, 1, 2, 4, 6, 8, 9, 10, 11, 12, 13, 14, 17, 18}, at::kLong);
  CHECK(farthest(scored, all.index_select(0, kept)) < 1e-6);
  const auto mask = at::zeros({all.size(0)}).index_fill(0, kept, 1.0);
  (all * mask * at::linspace(-1.0, 2.0, all.size(0))).sum().backward();
  const auto weights = at::linspace(-1.0, 2.0, all.size(0)).index_select(0, kept);
  (scored * weights).sum().backward();
  CHECK(whole.gradient.abs().max().item<double>() > 0.1);
  CHECK(farthest(parts.gradient, whole.gradient) < 1e-5);
}

TEST_CASE("token groups: how many rows of logits are computed at once changes nothing") {
  const auto config = small_model(model_family::llama);
  std::vector<at::Tensor> log_probs, gradients;
  for (const std::int64_t rows : {1, 5, 1000}) {
    auto trained = lively_model(config);
    log_probs.push_back(
        answer_log_probs(config, trained.weights, groups, {.log_probs = {.rows_at_once = rows}}));
    log_probs.back().exp().sum().backward();
    gradients.push_back(trained.gradient);
  }
  for (std::size_t i = 1; i < 3; ++i) {
    CHECK(farthest(log_probs[i], log_probs[0]) < 1e-6);
    CHECK(farthest(gradients[i], gradients[0]) < 1e-6);
  }
}

TEST_CASE("token groups: layers that are computed twice give the same gradient") {
  for (const auto family : every_family) {
    const auto config = small_model(family);
    std::vector<at::Tensor> gradients;
    for (const bool twice : {false, true}) {
      auto trained = lively_model(config);
      answer_log_probs(config, trained.weights, groups, {.forward = {.recompute_layers = twice}})
          .sum()
          .backward();
      gradients.push_back(trained.gradient);
    }
    CHECK(at::equal(gradients[0], gradients[1]));
  }
}

TEST_CASE("token groups: in bf16 log-probs and gradients are near, and the weights stay float") {
  const auto config = small_model(model_family::llama);
  auto exact = lively_model(config), rounded = lively_model(config);
  const auto expected = answer_log_probs(config, exact.weights, groups);
  const auto scores = answer_log_probs(config, rounded.weights, groups,
                                       {.forward = {.compute = compute_type::bf16}});
  CHECK(scores.scalar_type() == at::kFloat);
  const double apart = farthest(scores, expected);
  CHECK(apart < 0.1);
  CHECK(apart > 1e-5);  // it was computed in another type
  expected.sum().backward();
  scores.sum().backward();
  const auto a = exact.gradient, b = rounded.gradient;
  CHECK((a.dot(b) / (a.norm() * b.norm())).item<double>() > 0.995);
}

TEST_CASE("token groups: a document may go on from one that goes on from another") {
  const auto config = small_model(model_family::qwen3);
  const auto weights = lively_model(config).weights;
  const auto whole = packed_hidden(config, weights, {{1, 2, 3, 4, 5, 6, 7}, {7}});
  const packed_tokens tree{{1, 2, 3, 9, 4, 5, 8, 8, 6, 7}, {3, 1, 2, 2, 2}, {-1, 0, 0, -1, 2}};
  const auto parts = packed_hidden(config, weights, tree);
  CHECK(farthest(parts.narrow(0, 4, 2), whole.narrow(0, 3, 2)) < 1e-5);
  CHECK(farthest(parts.narrow(0, 8, 2), whole.narrow(0, 5, 2)) < 1e-5);
}

TEST_CASE("token groups: what can't be scored is refused by name") {
  const auto config = small_model(model_family::llama);
  const auto weights = random_weights(config, 1);
  const auto refusal_of = [&](std::vector<token_group> bad, log_prob_options options = {}) {
    return testing::message_of<std::invalid_argument>(
        [&] { answer_log_probs(config, weights, bad, {.log_probs = options}); });
  };
  CHECK_THAT(refusal_of({{{1}, {{2}}}, {{}, {{2}}}}), Contains("group 1: expected a prompt"));
  CHECK_THAT(refusal_of({{{1}, {}}}), Contains("group 0: expected one answer"));
  CHECK_THAT(refusal_of({{{1}, {{2}, {}}}}), Contains("tokens in answer 1"));
  CHECK_THAT(refusal_of({}), Contains("documents"));
  CHECK_THAT(refusal_of({{{1}, {{2, 50}}}}), Contains("ids from 0 to 49, got 50"));
  CHECK_THAT(refusal_of({{{1}, {{2}, {3}}, {{}}}}),
             Contains("each of 2 answers or for none, got 1"));
  for (const auto& read : std::vector<std::vector<token_range>>{
           {{0, 2}}, {{1, 3}}, {{1, 1}}, {{1, 2}, {0, 1}}, {{-1, 1}}}) {
    CHECK_THAT(refusal_of({{{1}, {{2, 3}}, {read}}}), Contains("ranges of read tokens in order"));
  }
  const std::vector<token_id> long_prompt(60, 1);
  CHECK_THAT(refusal_of({{long_prompt, {{1, 2, 3, 4}, {1, 2, 3, 4, 5}}}}), Contains("got 65"));
  CHECK_THAT(refusal_of({{{1}, {{2}}}}, {.temperature = 0.0}), Contains("temperature"));
  CHECK_THAT(refusal_of({{{1}, {{2}}}}, {.rows_at_once = 0}), Contains("rows_at_once"));
  CHECK_THROWS_WITH(packed_hidden(config, weights, {{1, 2}, {1, 1}, {-1, 1}}),
                    Contains("parent of document 1"));
  CHECK_THROWS_WITH(packed_hidden(config, weights, {{1, 2}, {1, 1}, {-1}}),
                    Contains("parents of 2 documents, got 1"));
  const auto hidden = at::zeros({2, config.hidden_size});
  CHECK_THROWS_WITH(token_log_probs(config, weights, hidden, {{2}, {1}}),
                    Contains("rows from 0 to 1, got 2"));
  CHECK_THROWS_WITH(token_log_probs(config, weights, hidden, {{0}, {1, 2}}),
                    Contains("rows of 2 targets, got 1"));
}

TEST_CASE("token groups: what all answers read first becomes the end of the prompt") {
  token_group group{{1}, {{2, 3, 4, 5}, {2, 3, 6, 7, 8}}, {{{0, 3}}, {{0, 2}, {3, 4}}}};
  share_prompt(group);
  CHECK(group.prompt == std::vector<token_id>{1, 2, 3});
  CHECK(group.answers == std::vector<std::vector<token_id>>{{4, 5}, {6, 7, 8}});
  REQUIRE(group.read[0].size() == 1);
  CHECK(group.read[0][0].begin == 0);
  CHECK(group.read[0][0].end == 1);
  REQUIRE(group.read[1].size() == 1);  // the first range is the prompt's now
  CHECK(group.read[1][0].begin == 1);
  CHECK(group.read[1][0].end == 2);

  // A sampled token is never the prompt's, also if all answers begin with it.
  token_group sampled{{1}, {{2, 3}, {2, 4}}, {{}, {}}};
  share_prompt(sampled);
  CHECK(sampled.prompt == std::vector<token_id>{1});
  token_group alike{{}, {{5, 6, 7}, {5, 6, 7}}, {{{0, 1}}, {{0, 2}}}};
  share_prompt(alike);
  CHECK(alike.prompt == std::vector<token_id>{5});
}

}  // namespace
}  // namespace troupe::llm

#include "actors/torch/torch.hpp"

#include "actors/llm/generator/generation_engine.hpp"

#include <cmath>
#include <set>

#include "actors/llm/model/model_weights.hpp"
#include "actors/llm/model/packed_forward.hpp"
#include "actors/llm/model/read_model.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/runtime/support.hpp"

namespace troupe::llm {
namespace {

using testing::has_text;

language_model fixture(const std::string& name) {
  return read_model(testing::source_path("tests/fixtures/llm/models/") + name);
}

/// Token 1 says "ab", 2 "b", 3 "c", and so on; token 0 nothing, being special.
token_texts letters() {
  token_texts texts{{"", "ab"}};
  for (char c = 'b'; c <= 'z'; ++c) texts.bytes.emplace_back(1, c);
  return texts;
}

generation_engine make(const language_model& m, engine_options options = {}) {
  return {pack_weights(m.config, m.weights), 1, options, letters()};
}

std::vector<token_id> some_tokens(std::size_t count, std::size_t from = 0) {
  std::vector<token_id> ids;
  for (std::size_t i = 0; i < count; ++i)
    ids.push_back(static_cast<token_id>((from + i) * 29 % 61 + 3));
  return ids;
}

generation_request drawn(std::size_t prompt, std::int64_t tokens, std::uint64_t seed) {
  return {.prompt = some_tokens(prompt, seed),
          .max_tokens = tokens,
          .sampling = {.seed = seed},
          .stop_at_eos = false};
}

std::vector<completion> run(generation_engine& e, generation_engine::ticket which) {
  while (!e.finished(which)) REQUIRE(e.step());
  return e.take(which);
}

completion run(generation_engine& e, const generation_request& request) {
  return run(e, e.submit(request)).front();
}

/// Log-probabilities [T, vocab_size] after each of the tokens, by the pass that trainers take.
at::Tensor taught(const language_model& m, const std::vector<token_id>& ids) {
  const auto hidden = packed_hidden(m.config, m.weights, {ids, {std::ssize(ids)}});
  return logits_of(m.config, m.weights, hidden).to(at::kDouble).log_softmax(-1);
}

TEST_CASE(
    "generation: greedy answers are the likeliest tokens of teacher forcing, also long ones") {
  for (const auto* name : {"llama", "qwen2", "qwen3"}) {
    CAPTURE(name);
    const auto m = fixture(name);
    auto e = make(m);
    auto request = drawn(20, 200, 3);
    request.sampling.temperature = 0;
    const auto out = run(e, request);
    REQUIRE(out.tokens.size() == 200);
    auto all = request.prompt;
    all.insert(all.end(), out.tokens.begin(), out.tokens.end());
    const auto known = taught(m, all);
    for (std::size_t i = 0; i < out.tokens.size(); ++i) {
      const auto row = known[std::int64_t(19 + i)];
      CHECK(row.argmax().item<token_id>() == out.tokens[i]);
      CHECK(row[out.tokens[i]].item<double>() == Approx(out.log_probs[i]).margin(1e-5));
    }
  }
}

void check_same(const completion& a, const completion& b) {
  CHECK(a.tokens == b.tokens);
  CHECK(a.log_probs == b.log_probs);
}

TEST_CASE("generation: an answer is the same alone, among 32 and as one of a group") {
  const auto m = fixture("qwen2");
  std::vector<completion> alone;
  for (std::uint64_t i = 0; i < 32; ++i) {
    auto e = make(m);
    alone.push_back(run(e, drawn(5 + i, 20 + std::int64_t(3 * i), i)));
  }
  CHECK(alone[3].tokens != alone[4].tokens);
  auto e = make(m, {.prefill_tokens = 13});
  std::vector<generation_engine::ticket> tickets;
  for (std::uint64_t i = 0; i < 32; ++i) {
    tickets.push_back(e.submit(drawn(5 + i, 20 + std::int64_t(3 * i), i)));
    e.step();  // they come while others are being written
  }
  for (std::size_t i = 0; i < 32; ++i) check_same(run(e, tickets[i]).front(), alone[i]);

  const auto group = run(e, e.submit(drawn(9, 80, 100), 6));
  for (std::uint64_t i = 0; i < 6; ++i) {
    auto single = drawn(9, 80, 100);
    single.sampling.seed = group[i].seed;
    check_same(group[i], run(e, single));
  }
  CHECK(group[0].seed == 100);
}

TEST_CASE("generation: groups of neighbouring seeds share no answer's seed") {
  auto e = make(fixture("qwen3"));
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    for (const auto& one : run(e, e.submit(drawn(3, 1, seed), 16))) seeds.insert(one.seed);
  }
  CHECK(seeds.size() == 8 * 16);
}

TEST_CASE("generation: the repetition penalty is for the tokens of the prompt and of the answer") {
  const auto m = fixture("qwen3");
  auto e = make(m);
  auto request = drawn(20, 60, 3);
  request.sampling = {.temperature = 0, .repetition_penalty = 1.5};
  const auto out = run(e, request);
  auto all = request.prompt;
  all.insert(all.end(), out.tokens.begin(), out.tokens.end());
  const auto hidden = packed_hidden(m.config, m.weights, {all, {std::ssize(all)}});
  const auto logits = logits_of(m.config, m.weights, hidden).to(at::kDouble);
  const auto known = logits.log_softmax(-1);
  int changed = 0;
  for (std::size_t i = 0; i < 60; ++i) {
    const auto row = logits[std::int64_t(19 + i)];
    auto penalised = row.clone();
    for (const auto id : std::set<token_id>(all.begin(), all.begin() + std::ptrdiff_t(20 + i))) {
      const auto one = row[id].item<double>();
      penalised[id] = one < 0 ? one * 1.5 : one / 1.5;
    }
    CHECK(penalised.argmax().item<token_id>() == out.tokens[i]);
    CHECK(known[std::int64_t(19 + i)][out.tokens[i]].item<double>() ==
          Approx(out.log_probs[i]).margin(1e-5));
    changed += row.argmax().item<token_id>() != out.tokens[i];
  }
  CHECK(changed > 10);
}

TEST_CASE("generation: log-probabilities are those of the sampling temperature") {
  const auto m = fixture("qwen3");
  auto e = make(m);
  auto request = drawn(12, 60, 5);
  request.sampling.temperature = 0.7;
  const auto out = run(e, request);
  auto all = request.prompt;
  all.insert(all.end(), out.tokens.begin(), out.tokens.end());
  const auto hidden = packed_hidden(m.config, m.weights, {all, {std::ssize(all)}});
  const auto known = (logits_of(m.config, m.weights, hidden).to(at::kDouble) / 0.7).log_softmax(-1);
  for (std::size_t i = 0; i < 60; ++i)
    CHECK(known[std::int64_t(11 + i)][out.tokens[i]].item<double>() ==
          Approx(out.log_probs[i]).margin(1e-5));
}

TEST_CASE("generation: a group's prompt is computed once, also where it has too few slots") {
  const auto m = fixture("llama");
  auto e = make(m, {.slots = 3, .prefill_tokens = 16});
  const auto group = run(e, e.submit(drawn(50, 10, 1), 8));
  REQUIRE(group.size() == 8);
  std::int64_t computed = 0;
  for (const auto& one : group) {
    CHECK(one.prompt_tokens == 50);
    CHECK(one.tokens.size() == 10);
    computed += one.prompt_tokens_computed;
  }
  CHECK(computed == 50);
  CHECK(group[0].prompt_tokens_computed == 50);
  CHECK(e.counts().prefill_tokens == 50);
  CHECK(e.counts().generated_tokens == 80);
  CHECK(e.counts().busy == 0);
  CHECK(e.counts().queued == 0);
}

/// Three turns of a conversation: each prompt is the one before with its answer and what followed.
std::vector<completion> converse(generation_engine& e, std::uint64_t seed) {
  std::vector<completion> said;
  auto next = drawn(20, 40, seed);
  for (std::uint64_t turn = 0; turn < 3; ++turn) {
    next.sampling.seed = seed + turn;
    said.push_back(run(e, next));
    next.prompt.insert(next.prompt.end(), said.back().tokens.begin(), said.back().tokens.end());
    const auto more = some_tokens(7, turn);
    next.prompt.insert(next.prompt.end(), more.begin(), more.end());
  }
  return said;
}

TEST_CASE("generation: the next turn of a conversation computes its new tokens alone, to the bit") {
  const auto m = fixture("llama");
  auto plain = make(m), cached = make(m, {.cache_bytes = 1 << 20}),
       tight = make(m, {.cache_bytes = 1});
  for (const std::uint64_t seed : {5, 50}) {
    const auto wanted = converse(plain, seed);
    for (auto* other : {&cached, &tight}) {
      const auto found = converse(*other, seed);
      for (std::size_t turn = 0; turn < 3; ++turn) {
        CHECK(found[turn].tokens == wanted[turn].tokens);
        CHECK(found[turn].log_probs == wanted[turn].log_probs);
      }
    }
  }
  CHECK(plain.counts().prefill_tokens == 2 * (20 + (20 + 47) + (20 + 2 * 47)));
  // The last token of an answer has no keys and values yet.
  CHECK(cached.counts().prefill_tokens == 2 * (20 + 8 + 8));
  CHECK(tight.counts().prefill_tokens == plain.counts().prefill_tokens);
}

TEST_CASE("generation: nothing cached outlives a change of the weights") {
  const auto m = fixture("llama");
  auto e = make(m, {.cache_bytes = 1 << 20});
  auto first = drawn(20, 40, 5);
  const auto said = run(e, first);
  e.set_weights(pack_weights(m.config, m.weights), 2);
  auto next = first;
  next.prompt.insert(next.prompt.end(), said.tokens.begin(), said.tokens.end());
  const auto before = e.counts().prefill_tokens;
  const auto straddling = e.submit(next);
  REQUIRE(e.step());
  CHECK(e.counts().prefill_tokens == before + 60);
  e.set_weights(pack_weights(m.config, m.weights), 3);
  const auto answer = run(e, straddling).front();  // its keys and values are of two versions
  next.prompt.insert(next.prompt.end(), answer.tokens.begin(), answer.tokens.end());
  run(e, next);
  CHECK(e.counts().prefill_tokens == before + 60 + 100);
}

TEST_CASE("generation: while a long prompt is read in parts, answers go on") {
  auto e = make(fixture("llama"), {.slots = 2, .prefill_tokens = 10});
  const auto running = e.submit(drawn(4, 50, 1));
  e.step();
  const auto with_long = e.submit(drawn(100, 2, 2));
  const auto before = e.so_far(running).size();
  for (int i = 0; i < 9; ++i) e.step();
  CHECK(e.so_far(running).size() == before + 9);
  CHECK(e.so_far(with_long).empty());
  e.step();
  CHECK(e.so_far(with_long).size() == 1);
  CHECK(e.counts().prefill_tokens == 104);
}

TEST_CASE("generation: a free slot goes to the highest priority, then to who came first") {
  auto e = make(fixture("llama"), {.slots = 1});
  auto request = drawn(4, 3, 1);
  const auto first = e.submit(request), second = e.submit(request), third = e.submit(request);
  request.priority = 1;
  e.step();  // the first has the slot
  const auto urgent = e.submit(request);
  std::vector<generation_engine::ticket> order;
  while (e.step()) {
    for (const auto t : {first, second, third, urgent}) {
      if (std::ranges::find(order, t) == order.end() && e.finished(t)) order.push_back(t);
    }
  }
  CHECK(order == std::vector{first, urgent, second, third});
}

TEST_CASE("generation: what is cancelled frees its slots, whatever it is at") {
  auto e = make(fixture("llama"), {.slots = 2, .prefill_tokens = 8});
  const auto group = e.submit(drawn(6, 100, 1), 5);  // two are written, three wait
  const auto waiting = e.submit(drawn(30, 4, 2));
  e.step();
  CHECK(e.counts().busy == 2);
  CHECK(e.counts().queued == 4);
  e.cancel(group);
  CHECK(e.counts().busy == 0);
  CHECK(e.counts().queued == 1);
  e.step();  // a part of its prompt
  CHECK(e.so_far(waiting).empty());
  e.cancel(waiting);
  e.cancel(waiting);  // nobody
  CHECK(e.counts().busy == 0);
  CHECK_FALSE(e.step());
  CHECK_THROWS_WITH(e.finished(waiting), has_text("ticket"));
  const auto after = run(e, drawn(6, 5, 1));
  auto alone = make(fixture("llama"));
  check_same(after, run(alone, drawn(6, 5, 1)));
}

TEST_CASE("generation: weights change between two steps, and each token knows its version") {
  const auto m = fixture("llama");
  const auto other = random_weights(m.config, 3);
  auto e = make(m, {.slots = 2});
  const auto which = e.submit(drawn(5, 30, 1), 3);  // the third begins after the change
  for (int i = 0; i < 11; ++i) e.step();
  e.set_weights(pack_weights(m.config, other), 7);
  const auto answers = run(e, which);
  for (const auto& one : answers) {
    CHECK(one.tokens.size() == 30);
    CHECK(one.first_version() == 1);
    CHECK(one.last_version() == 7);
    CHECK(std::ranges::is_sorted(one.versions));
  }
  CHECK(std::ranges::count(answers[0].versions, 1) == 11);
  CHECK(std::ranges::count(answers[2].versions, 1) == 1);  // drawn from the prompt's logits
  // What came before is the old weights', what comes after is not.
  auto old = make(m);
  const auto unchanged = run(old, drawn(5, 30, 1));
  CHECK(std::equal(unchanged.tokens.begin(), unchanged.tokens.begin() + 11,
                   answers[0].tokens.begin()));
  CHECK(unchanged.tokens != answers[0].tokens);
}

TEST_CASE("generation: an answer ends with a stop token, which it keeps, or with the context") {
  auto m = fixture("llama");
  auto e = make(m);
  const auto whole = run(e, drawn(5, 40, 8));
  CHECK(whole.finish == finish_reason::length);
  auto request = drawn(5, 40, 8);
  request.stop_ids = {whole.tokens[6]};
  const auto stopped = run(e, request);
  CHECK(stopped.finish == finish_reason::stop_id);
  CHECK(stopped.tokens.back() == whole.tokens[6]);
  CHECK(stopped.tokens.size() <= 7);

  m.config.eos_tokens = {whole.tokens[6]};
  auto with_eos = make(m);
  CHECK(run(with_eos, drawn(5, 40, 8)).finish == finish_reason::length);  // not asked for
  request = drawn(5, 40, 8);
  request.stop_at_eos = true;
  check_same(run(with_eos, request), stopped);

  const auto long_one = run(e, drawn(250, 100, 1));  // a context of 256
  CHECK(long_one.tokens.size() == 6);
  CHECK(long_one.finish == finish_reason::length);
}

TEST_CASE("generation: a stop text is found across tokens; text ends before it, tokens with it") {
  const auto m = fixture("llama");
  auto e = make(m);
  const auto whole = run(e, drawn(5, 60, 8));
  const auto& text = whole.text;
  REQUIRE(text.size() > 12);
  // Three characters that no token says alone.
  const auto wanted = text.substr(5, 3);
  auto request = drawn(5, 60, 8);
  request.stop_texts = {"never said", wanted};
  const auto out = run(e, request);
  CHECK(out.finish == finish_reason::stop_text);
  CHECK(out.text == text.substr(0, text.find(wanted)));
  REQUIRE(out.tokens.size() < whole.tokens.size());
  CHECK(std::equal(out.tokens.begin(), out.tokens.end(), whole.tokens.begin()));
  std::string said;
  for (const auto id : out.tokens) {
    if (std::size_t(id) < letters().bytes.size()) said += letters().bytes[std::size_t(id)];
  }
  CHECK(said.starts_with(out.text + wanted));
}

TEST_CASE("generation: requests that can't be meant are refused by name, and nothing is changed") {
  auto e = make(fixture("llama"), {.max_queued = 4});
  const auto refusal_of = [&](auto change, std::int64_t answers = 1) {
    auto request = drawn(5, 10, 1);
    change(request);
    return testing::message_of<std::invalid_argument>([&] { e.submit(request, answers); });
  };
  using request = generation_request;
  CHECK(refusal_of([](request& r) { r.prompt.clear(); }) ==
        "generation: prompt: expected at least one token, got none");
  CHECK(refusal_of([](request& r) { r.prompt = some_tokens(300); }) ==
        "generation: prompt: expected fewer tokens than the context of 256, got 300");
  CHECK(refusal_of([](request& r) { r.prompt[2] = 64; }) ==
        "generation: prompt: expected ids from 0 to 63, got 64");
  CHECK(refusal_of([](request& r) { r.prompt[2] = -1; }) ==
        "generation: prompt: expected ids from 0 to 63, got -1");
  CHECK(refusal_of([](request& r) { r.stop_ids = {99}; }) ==
        "generation: stop_ids: expected ids from 0 to 63, got 99");
  CHECK(refusal_of([](request& r) { r.max_tokens = 0; }) ==
        "generation: max_tokens: expected a number > 0, got 0");
  CHECK_THAT(refusal_of([](request& r) { r.sampling.temperature = std::nan(""); }),
             has_text("temperature: expected 0, or a number from 0.001 to 1000, got nan"));
  CHECK_THAT(refusal_of([](request& r) { r.stop_texts = {""}; }),
             has_text("stop_texts: expected texts of 1 to 256 bytes, got one of 0"));
  CHECK_THAT(refusal_of([](request& r) { r.stop_texts.assign(17, "x"); }),
             has_text("stop_texts: expected at most 16, got 17"));
  CHECK(refusal_of([](request&) {}, 5) == "generation: answers: expected 1 to 4, got 5");
  CHECK(refusal_of([](request&) {}, 0) == "generation: answers: expected 1 to 4, got 0");
  CHECK_FALSE(e.step());

  e.submit(drawn(5, 10, 1), 3);
  CHECK_THROWS_WITH(e.submit(drawn(5, 10, 1), 2),
                    has_text("at most 4 answers to wait, got 2 beside 3"));
  generation_engine mute(pack_weights(fixture("llama").config, fixture("llama").weights), 1, {});
  auto with_text = drawn(5, 10, 1);
  with_text.stop_texts = {"x"};
  CHECK_THROWS_WITH(mute.submit(with_text), has_text("knows no token's text"));
  CHECK_THROWS_WITH(make(fixture("llama"), {.slots = 0}), has_text("slots: expected a number > 0"));
}

TEST_CASE("generation: logits that aren't finite end their request with an error, and no other") {
  auto m = fixture("llama");
  m.weights.embedding = m.weights.embedding.clone();
  m.weights.embedding[40].fill_(NAN);  // read by prompts that have it
  auto e = make(m);
  auto bad = drawn(5, 10, 1);
  bad.prompt = {40, 40};
  auto good = drawn(5, 10, 1);
  good.prompt = {5, 6};
  const auto one = e.submit(bad, 2), other = e.submit(good);
  while (e.step()) {
  }
  CHECK_THROWS_WITH(e.take(one), has_text("finite"));
  CHECK(e.finished(other));
}

}  // namespace
}  // namespace troupe::llm

#include "actors/torch/torch.hpp"

#include "actors/llm/generator/generator.hpp"

#include <set>

#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/model/read_model.hpp"
#include "actors/weights/give_weights.hpp"
#include "tests/paths.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/runtime/support.hpp"

namespace troupe::llm {
namespace {

using namespace testing;

language_model fixture() {
  return read_model(testing::source_path("tests/fixtures/llm/models/llama"));
}

generator_options options_of(const language_model& m, std::int64_t slots = 32) {
  return {.config = m.config, .engine = {.slots = slots}, .texts = {}, .seed = 4};
}

weights of_version(const language_model& m, std::int64_t version) {
  return {version, flatten_weights(m.config, m.weights), {}};
}

generation_request drawn(std::int64_t tokens, std::uint64_t seed) {
  return {.prompt = {5, 9, 12, 60, 3},
          .max_tokens = tokens,
          .sampling = {.seed = seed},
          .stop_at_eos = false};
}

/// A generator that dies on request.
struct mortal_generator : generator {
  using generator::generator;
  void die() { throw fatal("it was told to"); }
};

struct roles {
  service<weight_store> store;
  service<mortal_generator> mortals;
  service<generator> generators;
};

task<roles> begin(system& sys, std::int64_t slots = 32, serve_options options = {}) {
  const auto m = fixture();
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  co_await store.route<&weight_store::put>(of_version(m, 1));
  options.name = "generator";
  options.idempotent = {endpoint<&generator::generate>, endpoint<&generator::generate_group>};
  auto mortals =
      co_await sys.serve<mortal_generator>(options, options_of(m, slots), store, &sys.metrics());
  co_return roles{store, mortals, mortals};
}

/// Through an engine of its own.
completion alone(const generation_request& request) {
  const auto m = fixture();
  generation_engine e(pack_weights(m.config, m.weights), 1, {});
  const auto which = e.submit(request);
  while (e.step()) {
  }
  return e.take(which).front();
}

task<completion> write(service<generator> by, generation_request request) {
  co_return co_await by.route<&generator::generate>(std::move(request));
}

task<std::vector<completion>> write_many(service<generator> by, std::uint64_t count,
                                         std::int64_t tokens) {
  std::vector<task<completion>> all_of;
  for (std::uint64_t i = 0; i < count; ++i) all_of.push_back(write(by, drawn(tokens, i)));
  co_return co_await all(std::move(all_of));
}

task<> concurrent(system& sys) {
  auto c = co_await begin(sys);
  const auto answers = co_await write_many(c.generators, 20, 30);
  for (std::uint64_t i = 0; i < 20; ++i) CHECK(answers[i].tokens == alone(drawn(30, i)).tokens);
  const auto counts = co_await c.generators.route<&generator::counts>();
  CHECK(counts.generated_tokens == 600);
  CHECK(counts.steps < 60);  // together, not one after the other
  CHECK(counts.busy == 0);

  auto group = co_await c.generators.route<&generator::generate_group>(drawn(10, 50), 8);
  CHECK(group.size() == 8);
  CHECK(group[3].tokens == alone(drawn(10, group[3].seed)).tokens);
  const auto after = co_await c.generators.route<&generator::counts>();
  CHECK(after.prefill_tokens - counts.prefill_tokens == 5);

  const auto text = sys.metrics().text();
  CHECK(series(text, "troupe_llm_generated_tokens_total") == 680);
  CHECK(series(text, "troupe_llm_prefill_tokens_total") == 105);
  CHECK(series(text, "troupe_llm_slots_busy") == 0);
  CHECK(series(text, "troupe_llm_weight_swaps_total") == 1);
}

TEST_CASE("generator: concurrent requests are written together, each as it would be alone") {
  play(concurrent);
}

task<> seeds(system& sys) {
  auto c = co_await begin(sys);
  auto request = drawn(20, 0);
  request.sampling.seed.reset();
  const auto one = co_await write(c.generators, request);
  const auto two = co_await write(c.generators, request);
  CHECK(one.tokens != two.tokens);
  const auto again = co_await write(c.generators, drawn(20, one.seed));
  CHECK(one.tokens == again.tokens);
}

task<> replicas_draw_apart(system& sys) {
  auto c = co_await begin(sys, 32, {.replicas = 2});
  auto request = drawn(1, 0);
  request.sampling.seed.reset();
  std::set<std::uint64_t> seeds;
  for (int i = 0; i < 8; ++i) {
    const auto both = co_await c.generators.fanout<&generator::generate>(request);
    for (const auto& one : both) seeds.insert(one.seed);
  }
  CHECK(seeds.size() == 2 * 8);
}

TEST_CASE("generator: requests without a seed have others on each replica") {
  play(replicas_draw_apart);
}

TEST_CASE("generator: a request without a seed has one of its own, which its answer tells") {
  play(seeds);
}

task<> update_soon(roles c) {
  co_await sleep_for(10us);  // ten steps
  auto other = fixture();
  other.weights = random_weights(other.config, 5);
  auto fresh = of_version(other, 4);
  co_await c.store.route<&weight_store::put>(fresh);
  co_await give_weights<&generator::update>(c.generators, fresh);
}

task<> swapped(system& sys) {
  auto c = co_await begin(sys);
  auto both = co_await all(write_many(c.generators, 12, 40), update_soon(c));
  const auto& answers = std::get<0>(both);
  for (const auto& one : answers) {
    CHECK(one.tokens.size() == 40);
    CHECK(one.first_version() == 1);
    CHECK(one.last_version() == 4);
    CHECK(std::ranges::is_sorted(one.versions));
  }
  const auto versions = co_await c.generators.fanout<&generator::version>();
  CHECK(versions == std::vector<std::int64_t>{4});
  const auto old = of_version(fixture(), 2);
  co_await c.generators.route<&generator::update>(old);  // ignored
  const auto after = co_await write(c.generators, drawn(3, 1));
  CHECK(after.first_version() == 4);
}

TEST_CASE("generator: weights are swapped in the middle of answers, and no request is dropped") {
  play(swapped);
}

/// More than is waited for: a step takes a microsecond.
task<> write_much(service<generator> by) {
  co_await by.route<&generator::generate_group>(drawn(200, 1), 100);
}

task<> give_up(system& sys) {
  auto c = co_await begin(sys, 1);
  // The first to come computes the steps, until it goes in the middle of an answer.
  auto ended = co_await all(error_of(with_timeout(write_much(c.generators), 1ms)),
                            error_of(write_much(c.generators.with({.deadline = 2ms}))),
                            write(c.generators, drawn(100, 9)));
  CHECK(starts_with(std::get<0>(ended), "deadline_exceeded"));
  CHECK(starts_with(std::get<1>(ended), "deadline_exceeded"));
  CHECK(std::get<2>(ended).tokens == alone(drawn(100, 9)).tokens);
  const auto counts = co_await c.generators.route<&generator::counts>();
  CHECK(counts.busy == 0);
  CHECK(counts.queued == 0);
  CHECK(counts.generated_tokens < 15000);  // of 40,100
}

TEST_CASE("generator: who gives up frees the slots, and who waits goes on") { play(give_up); }

task<> kill_soon(service<mortal_generator> which) {
  co_await sleep_for(15us);
  co_await which.try_route<&mortal_generator::die>();
}

task<> killed(system& sys) {
  auto c = co_await begin(sys);
  auto both = co_await all(write_many(c.generators, 6, 40), kill_soon(c.mortals));
  const auto& answers = std::get<0>(both);
  for (std::uint64_t i = 0; i < 6; ++i) CHECK(answers[i].tokens == alone(drawn(40, i)).tokens);
  const auto counts = co_await c.generators.route<&generator::counts>();
  CHECK(counts.finished == 6);  // of the second life; the first had finished none
  CHECK(series(sys.metrics().text(), "troupe_llm_generated_tokens_total") > 6 * 40);
  CHECK(series(sys.metrics().text(), "troupe_llm_slots_busy") == 0);
}

TEST_CASE("generator: one that is killed writes its answers again, and they are the same") {
  play(killed);
}

task<> refused(system& sys) {
  auto c = co_await begin(sys);
  auto request = drawn(10, 1);
  request.prompt.assign(300, 1);
  const auto text = co_await error_of(write(c.generators, request));
  CHECK_THAT(text, has_text("expected fewer tokens than the context of 256, got 300"));
  const auto after = co_await write(c.generators, drawn(10, 1));
  CHECK(after.tokens == alone(drawn(10, 1)).tokens);
}

TEST_CASE("generator: a request that can't be meant is its caller's alone") { play(refused); }

task<> elsewhere(system& sys) {
  auto c = co_await begin(sys, 32, {.placement = placement::process});
  const auto answer = co_await write(c.generators, drawn(10, 1));
  CHECK(answer.tokens == alone(drawn(10, 1)).tokens);
}

TEST_CASE("generator: requests and answers cross processes") { play(elsewhere); }

}  // namespace
}  // namespace troupe::llm

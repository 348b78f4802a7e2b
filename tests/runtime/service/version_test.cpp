// Calls that ask for a version of the role, and fanouts that ask one replica after the other.

#include <algorithm>

#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Has a version, as a policy has that of its weights.
class learner {
 public:
  explicit learner(const replica_info& info) : index_(info.index) {}

  std::int64_t version() const { return version_; }
  std::size_t index() const { return index_; }
  void update(std::int64_t version) { version_ = version; }
  task<> update_later(std::int64_t version) {
    co_await sleep_for(1s);
    version_ = version;
  }
  batch<std::int64_t> ask(batch<int> calls) {
    batch<std::int64_t> answers;
    for ([[maybe_unused]] const int call : calls) answers.push_back(version_);
    return answers;
  }
  task<std::size_t> stay(duration long_enough) {
    co_await sleep_for(long_enough);
    co_return index_;
  }

 private:
  std::size_t index_;
  std::int64_t version_ = 0;
};

struct plain {
  int ask() { return 1; }
  void die() { throw fatal("it was told to"); }
};

task<std::int64_t> ask_for(service<learner> learners, std::int64_t version) {
  co_return co_await learners.with({.min_version = version}).route<&learner::ask>(0);
}

task<> update_one(service<learner> learners, std::int64_t version) {
  co_await sleep_for(1s);
  co_await learners.route<&learner::update_later>(version);
}

task<> only_the_new_answer(system& sys) {
  for (auto how : {std::shared_ptr<router>(), routing::round_robin()}) {
    auto learners = co_await sys.serve<learner>({.name = "learners", .replicas = 4, .router = how});
    auto third = co_await learners.session();
    co_await third.route<&learner::update>(7);
    const auto everybody = co_await learners.fanout<&learner::version>();
    CHECK(std::count(everybody.begin(), everybody.end(), 7) == 1);
    for (int i = 0; i < 50; ++i) {
      const auto version = co_await ask_for(learners, 5);
      CHECK(version == 7);
    }
    sys.stop(learners);
  }
}

task<> waits_for_the_version(system& sys) {
  auto learners = co_await sys.serve<learner>({.name = "learners", .replicas = 3});
  const auto began = detail::strand::current().now();
  const auto [version, none] = co_await all(ask_for(learners, 1), update_one(learners, 2));
  CHECK(version == 2);
  CHECK(detail::strand::current().now() - began == 2s);
}

task<> ask_quickly(service<learner> learners, call_options options) {
  co_await learners.with(options).route<&learner::ask>(0);
}

task<> says_what_it_waits_for(system& sys) {
  auto learners = co_await sys.serve<learner>({.name = "learners", .replicas = 2});
  const auto late = co_await error_of(ask_quickly(learners, {.deadline = 3s, .min_version = 9}));
  CHECK(late.find("no answer within 3 s: expected a replica of version 9 or newer, got 0") !=
        std::string::npos);
  const auto now = co_await error_of(ask_quickly(learners, {.wait = false, .min_version = 9}));
  CHECK(now.find("expected a replica of version 9 or newer, got 0") != std::string::npos);

  auto others = co_await sys.serve<plain>({.name = "others"});
  const auto asked = others.with({.deadline = 1s, .min_version = 1});
  const auto never = co_await asked.try_route<&plain::ask>();
  CHECK(describe(never.error()).find("got none of any") != std::string::npos);

  // The second restart comes after a pause, during which no version is asked for either.
  for (int i = 0; i < 2; ++i) co_await others.try_route<&plain::die>();
  const auto gone = co_await others.with({.deadline = 1ms}).try_route<&plain::ask>();
  CHECK(describe(gone.error()).find("within 1 ms: no replica serves now") != std::string::npos);
}

task<std::size_t> stay(service<learner> learners) {
  co_return co_await learners.route<&learner::stay>(1s);
}

/// The one at the head of the line waits for a version that isn't there; those behind it don't.
task<> passes_by(group& waiting, service<learner> learners) {
  waiting.start(ask_quickly(learners, {.deadline = 1min, .min_version = 9}));
  co_await sleep_for(1ms);
  const auto [first, second] = co_await all(stay(learners), ask_for(learners, any_version));
  CHECK(first == 0);
  CHECK(second == 0);
  co_await learners.route<&learner::update>(9);
  co_await waiting.join();
}

task<> does_not_hold_up_others(system& sys) {
  auto learners = co_await sys.serve<learner>({.name = "learners", .max_queued = 1});
  co_await with_group(passes_by, learners);
}

task<> note(service<learner> learners, std::size_t at_once, duration& took) {
  const auto began = detail::strand::current().now();
  co_await learners.with({.at_once = at_once}).fanout<&learner::update_later>(1);
  took = detail::strand::current().now() - began;
}

task<> rolls(system& sys) {
  auto learners = co_await sys.serve<learner>({.name = "learners", .replicas = 5});
  const std::pair<std::size_t, duration> expected[] = {{0, 1s}, {1, 5s}, {2, 3s}, {9, 1s}};
  for (const auto& [at_once, time] : expected) {
    duration took{};
    co_await note(learners, at_once, took);
    CHECK(took == time);
  }
}

}  // namespace

TEST_CASE("version: only replicas of the version asked for, or newer, answer") {
  testing::play(only_the_new_answer);
}
TEST_CASE("version: a call waits until a replica has it") { testing::play(waits_for_the_version); }
TEST_CASE("version: a call that can't have it says what there is") {
  testing::play(says_what_it_waits_for);
}
TEST_CASE("version: a call that waits for one holds up no other") {
  testing::play(does_not_hold_up_others);
}
TEST_CASE("fanout: so many replicas at once as the caller says") { testing::play(rolls); }

}  // namespace troupe

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <future>
#include <stop_token>
#include <thread>

#include "runtime/metrics/registry.hpp"
#include "runtime/service/stop_token.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

struct worker {
  int add(int n) {
    tracked here;
    return total += n;
  }
  task<int> slow(int n) {
    co_await sleep_for(duration(1ms) * n);
    co_return n;
  }
  task<int> ask(service<worker> other) {
    const int n = co_await other.route<&worker::slow>(1);
    co_return n;
  }
  task<> wait_for_ever() { co_await sleep_for(duration::max()); }
  void die_of(int n) {
    if (n % 7 == 0) throw fatal("seven");
    if (n % 5 == 0) throw std::runtime_error("five");
  }
  batch<int> twice(batch<int> items) {
    batch<int> results;
    for (const int n : items) {
      if (n % 11 == 0) throw fatal("eleven");
      results.push_back(2 * n);
    }
    return results;
  }
  int total = 0;
};

// ---- the same order, again

struct listed {
  void note(int n, std::shared_ptr<std::vector<int>> order) { order->push_back(n); }
};

task<> note_thrice(service<listed> to, int n, std::shared_ptr<std::vector<int>> order) {
  for (int i = 0; i < 3; ++i) co_await to.route<&listed::note>(n, order);
}

task<std::vector<int>> order_of_events(system& sys) {
  auto to = co_await sys.serve<listed>({.name = "listed", .replicas = 4});
  auto order = std::make_shared<std::vector<int>>();
  std::vector<task<>> calls;
  for (int i = 0; i < 16; ++i) calls.push_back(note_thrice(to, i, order));
  co_await all(std::move(calls));
  co_return *order;
}

std::vector<int> order_with(std::uint64_t seed) {
  system sys({.deterministic = true, .seed = seed});
  return sys.run(order_of_events(sys));
}

// ---- deadlock

struct caller_of_itself {
  task<int> ask(service<caller_of_itself> me, int depth) {
    if (depth == 0) co_return 0;
    const int n = co_await me.route<&caller_of_itself::ask>(me, depth - 1);
    co_return n + 1;
  }
};

task<> asks_itself_too_often(system& sys) {
  auto one = co_await sys.serve<caller_of_itself>({.name = "cycle", .max_ongoing = 3});
  const int depth = co_await one.route<&caller_of_itself::ask>(one, 2);
  CHECK(depth == 2);
  co_await one.route<&caller_of_itself::ask>(one, 3);
}

task<int> five(system&) { co_return 5; }
task<> throws(system&) {
  co_await sleep_for(1ms);
  throw std::runtime_error("main threw");
}

// ---- invalid options

template <class Change>
std::string refusal_of(Change change) {
  serve_options options{.name = "bad"};
  change(options);
  system sys({.deterministic = true});
  return testing::message_of<std::invalid_argument>([&] { sys.run(sys.serve<worker>(options)); });
}

// ---- many seeds

struct tally {
  int answered = 0;
  int failed = 0;
};

template <class T>
std::string error_in(const outcome<T>& o) {
  return o.ok() ? "none" : describe(o.error());
}

task<> ask_session(service<worker> workers, int n) {
  auto mine = co_await workers.session();
  for (int i = 0; i < 3; ++i) co_await mine.route<&worker::slow>(n % 7);
}

task<> random_caller(service<worker> to, std::uint64_t seed, tally& counts) {
  for (int i = 0; i < 12; ++i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    const int n = static_cast<int>((seed >> 33) % 100);
    auto with =
        to.with({.deadline = n % 3 == 0 ? duration(20ms) : duration(0), .wait = n % 4 != 0});
    std::string error;
    outcome<int> slow = 0, twice = 0;
    outcome<void> died;
    switch (n % 5) {
      case 0:
        error = co_await error_of(with.fanout<&worker::add>(n));
        break;
      case 1:
        slow = co_await with.try_route<&worker::slow>(n % 10);
        error = error_in(slow);
        break;
      case 2:
        twice = co_await with.try_route<&worker::twice>(n);
        error = error_in(twice);
        break;
      case 3:
        error = co_await error_of(with_timeout(ask_session(with, n), 10ms));
        break;
      default:
        died = co_await with.try_route<&worker::die_of>(n);
        error = error_in(died);
    }
    ++(error == "none" ? counts.answered : counts.failed);
  }
}

task<tally> random_workload(system& sys, std::uint64_t seed) {
  auto workers = co_await sys.serve<worker>({.name = "workers",
                                             .replicas = 3,
                                             .max_queued = 3,
                                             .max_waiting = 12,
                                             .max_ongoing = 2,
                                             .max_batch = 4,
                                             .max_restarts = 1000,
                                             .backoff = 2ms,
                                             .backoff_limit = 10ms,
                                             .idempotent = {endpoint<&worker::twice>}});
  tally counts;
  std::vector<task<>> callers;
  for (std::uint64_t i = 0; i < 20; ++i) {
    callers.push_back(random_caller(workers, seed * 1000 + i, counts));
  }
  co_await all(std::move(callers));
  // Nothing is left behind: every replica serves, and all room is free.
  co_await sleep_for(1s);
  const auto totals = co_await workers.fanout<&worker::add>(0);
  CHECK(totals.size() == 3);
  const auto text = sys.metrics().text();
  CHECK(text.find("troupe_requests_in_flight{service=\"workers\"} 0\n") != text.npos);
  CHECK(text.find("troupe_callers_waiting{service=\"workers\"} 0\n") != text.npos);
  co_return counts;
}

// ---- a thread stuck in a role

struct stuck {
  void block() {
    for (;;) std::this_thread::sleep_for(1h);
  }
};

task<session<worker>> session_on_a_thread(system& sys) {
  auto workers = co_await sys.serve<worker>({.name = "workers", .placement = placement::thread});
  auto mine = co_await workers.session();
  co_return mine;
}

/// The exit code of a process that does nothing but that.
int exit_code_of(void (*program)()) {
  const auto child = fork();
  if (child == 0) {
    program();
    std::_Exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

task<> call_stuck(system& sys) {
  auto one = co_await sys.serve<stuck>({.name = "stuck"});
  const auto hurried = one.with({.deadline = 5ms});
  co_await hurried.try_route<&stuck::block>();
}

}  // namespace

TEST_CASE("system: run gives main's value, or throws its error") {
  system sys({.deterministic = true});
  CHECK(sys.run(five(sys)) == 5);
  CHECK(sys.run(five(sys)) == 5);
  CHECK_THROWS_WITH(sys.run(throws(sys)), "main threw");
}

TEST_CASE("deterministic: the same seed gives the same order of events, another seed another") {
  const auto order = order_with(7);
  REQUIRE(order.size() == 48);
  CHECK(order == order_with(7));
  CHECK(order != order_with(8));
}

TEST_CASE("deterministic: a deadlock is reported with the calls that are left") {
  testing::log_off();
  system sys({.deterministic = true, .cycle_check = duration(0)});
  CHECK_THROWS_WITH(sys.run(asks_itself_too_often(sys)),
                    testing::has_text("deadlock") && testing::has_text("cycle (4 in flight"));
  CHECK(sys.run(five(sys)) == 5);
}

TEST_CASE("system: an option out of range is refused by its name") {
  const auto starts = "service \"bad\": ";
  CHECK(refusal_of([](auto& o) { o.replicas = 0; }) ==
        std::string(starts) + "replicas: expected a number > 0, got 0");
  CHECK(refusal_of([](auto& o) { o.max_queued = 0; }) ==
        std::string(starts) + "max_queued: expected a number > 0, got 0");
  CHECK(refusal_of([](auto& o) { o.max_ongoing = 0; }) ==
        std::string(starts) + "max_ongoing: expected a number > 0, got 0");
  CHECK(refusal_of([](auto& o) { o.max_batch = 0; }) ==
        std::string(starts) + "max_batch: expected a number > 0, got 0");
  CHECK(refusal_of([](auto& o) { o.poison_limit = 0; }) ==
        std::string(starts) + "poison_limit: expected a number > 0, got 0");
  CHECK(refusal_of([](auto& o) { o.deadline = duration(0); }) ==
        std::string(starts) + "deadline: expected a time > 0, got 0 s");
  CHECK(refusal_of([](auto& o) { o.max_delay = duration(-5); }) ==
        std::string(starts) + "max_delay: expected a time >= 0, got -0.005 us");
  CHECK(refusal_of([](auto& o) { o.restart_window = duration(0); }) ==
        std::string(starts) + "restart_window: expected a time > 0, got 0 s");
  CHECK(refusal_of([](auto& o) { o.name = ""; }) ==
        "service \"\": name: expected a name, got none");
}

TEST_CASE("system: outside of an actor nothing can be awaited or called") {
  system sys({.deterministic = true});
  auto task = five(sys);
  CHECK_THROWS_WITH(task.await_suspend(std::noop_coroutine()),
                    testing::has_text("awaited outside of an actor"));
}

// More seeds: TROUPE_SEEDS=200 test_runtime "many seeds*"
TEST_CASE("many seeds: whatever dies, every caller gets one answer or one error") {
  testing::log_off();
  const auto* asked = std::getenv("TROUPE_SEEDS");
  const auto seeds = asked ? std::strtoull(asked, nullptr, 10) : 20;
  int failed = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    system sys({.deterministic = true, .seed = seed});
    const auto counts = sys.run(random_workload(sys, seed));
    CHECK(counts.answered + counts.failed == 20 * 12);
    CHECK(counts.answered > 0);
    failed += counts.failed;
  }
  CHECK(failed > 0);
  CHECK(testing::tracked::live == 0);
}

TEST_CASE("system: a thread stuck in a role does not keep the process from ending") {
  const auto program = [] {
    testing::log_off();
    system sys({.threads = 2, .stop_limit = 20ms});
    sys.run(call_stuck(sys));
  };
  CHECK(exit_code_of(program) == 70);
}

TEST_CASE("system: an actor's own thread that can't end doesn't keep the process from it") {
  const auto program = [] {
    testing::log_off();
    std::optional<session<worker>> held;  // It holds the replica, and that its thread.
    system sys({.threads = 2, .stop_limit = 20ms});
    held = sys.run(session_on_a_thread(sys));
  };
  CHECK(exit_code_of(program) == 70);
}

struct blocked {
  /// Blocks its thread until the system ends.
  void wait() {
    std::promise<void> ends;
    const std::stop_callback ending(system_stop_token(), [&] { ends.set_value(); });
    ends.get_future().wait();
  }
};

task<> leave_a_blocked_role(system& sys) {
  auto roles = co_await sys.serve<blocked>({.name = "blocked", .placement = placement::thread});
  const auto ended = co_await roles.with({.deadline = 200ms}).try_route<&blocked::wait>();
  CHECK_FALSE(ended);
}

TEST_CASE("system: a role that blocks its thread is told that the system ends") {
  CHECK_FALSE(system_stop_token().stop_possible());
  const auto program = [] {
    system sys({.threads = 2, .stop_limit = 10s});
    sys.run(leave_a_blocked_role(sys));
  };
  CHECK(exit_code_of(program) == 0);
}

task<> add_once(system& sys) {
  auto workers = co_await sys.serve<worker>({.name = "workers"});
  co_await workers.route<&worker::add>(1);
}

TEST_CASE("system: those that share a registry count on from one to the next") {
  const auto metrics = std::make_shared<metrics_registry>();
  for (int i = 0; i < 3; ++i) {
    troupe::system sys({.deterministic = true, .metrics = metrics});
    CHECK(&sys.metrics() == metrics.get());
    sys.run(add_once(sys));
  }
  const auto text = metrics->text();
  const auto answered =
      "troupe_requests_total{outcome=\"ok\",route=\"worker::add\",service=\"workers\"}";
  CHECK(series(text, answered) == 3);
  CHECK(occurrences(text, "troupe_replicas_ready") == 0);
}

task<> outlive_for_a_negative_time(system& sys) {
  co_await sys.serve<worker>({.name = "workers", .outlive_controller = -1s});
}

TEST_CASE("system: one thread may make it and another end it") {
  std::unique_ptr<troupe::system> sys;
  std::promise<void> made, ended;
  std::thread maker([&] {
    sys = std::make_unique<troupe::system>();
    made.set_value();
    ended.get_future().wait();
  });
  made.get_future().wait();
  auto end = std::async(std::launch::async, [&] { sys.reset(); });
  CHECK(end.wait_for(10s) == std::future_status::ready);
  ended.set_value();  // An end that waited for the maker's thread comes now.
  maker.join();
}

TEST_CASE("system: negative times are refused") {
  CHECK_THROWS_WITH(troupe::system({.stop_limit = -1s}),
                    testing::has_text("system: stop_limit: expected a time >= 0, got -"));
  troupe::system sys({.deterministic = true});
  CHECK_THROWS_WITH(sys.run(outlive_for_a_negative_time(sys)),
                    testing::has_text("outlive_controller: expected a time >= 0, got -"));
}

TEST_CASE("system: one without a limit for its end can end") {
  const troupe::system sys({.stop_limit = no_limit});
}

}  // namespace troupe

#include <sys/wait.h>
#include <unistd.h>

#include "runtime/service/options/fault_plan.hpp"
#include "runtime/service/progress.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/runtime/support.hpp"
#include "tests/runtime/wait_until.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Where endpoints are stuck until the test lets them go.
struct barrier {
  std::atomic<bool> open{false};
  std::atomic<int> came_back{0};
  void wait() {
    open.wait(false);
    ++came_back;
  }
  void release() {
    open = true;
    open.notify_all();
  }
};

struct patient {
  explicit patient(const replica_info& info) : info(info) {}
  int count() { return ++counted; }
  task<int> sleep(duration pause) {
    tracked here;
    co_await sleep_for(pause);
    co_return ++counted;
  }
  std::size_t hang(std::shared_ptr<barrier> at) {
    if (info.generation == 0) at->wait();
    return info.generation;
  }
  /// Takes a step that may last longer, and then hangs.
  int pause_and_hang(duration allowance, std::shared_ptr<barrier> at) {
    note_progress(allowance);
    std::this_thread::sleep_for(200ms);
    ++at->came_back;
    note_progress();
    at->wait();
    return 0;
  }
  const replica_info info;
  int counted = 0;
};

serve_options patients(std::size_t replicas) {
  return {.name = "patients", .replicas = replicas, .max_ongoing = 2, .max_call_time = 50ms};
}

task<> sleep_routed(service<patient> at, duration pause) {
  co_await at.route<&patient::sleep>(pause);
}

// ---- a coroutine that waits for too long

task<> cuts_off_who_waits(system& sys) {
  auto options = patients(1);
  options.idempotent = {endpoint<&patient::sleep>};
  auto one = co_await sys.serve<patient>(options);
  co_await one.route<&patient::count>();
  std::vector<task<std::string>> calls;
  for (const auto pause : {duration(1h), duration(40ms), duration(2h), duration(49ms)}) {
    calls.push_back(error_of(sleep_routed(one, pause)));
  }
  const auto start = detail::strand::current().now();
  const auto ends = co_await all(std::move(calls));
  const std::string cut =
      "deadline_exceeded: patients.patient::sleep: cancelled in its replica after 50 ms "
      "(max_call_time)";
  CHECK(ends == std::vector<std::string>{cut, "none", cut, "none"});
  CHECK(detail::strand::current().now() - start == 99ms);  // Two at a time; a place is free at 50.
  CHECK(tracked::live == 0);
  const int counted = co_await one.route<&patient::count>();
  CHECK(counted == 4);  // The same role: nothing was restarted, nothing retried.
  CHECK(metric(sys, "troupe_requests_overran_total", "patients") == 2);
  CHECK(metric(sys, "troupe_retries_total", "patients") == 0);
  CHECK(metric(sys, "troupe_replicas_abandoned_total", "patients") == 0);
  CHECK(metric(sys, "troupe_requests_in_flight", "patients") == 0);
}

// ---- an endpoint that has more time than others

task<int> pauses_before_loss(system& sys, duration allowance) {
  auto one = co_await sys.serve<patient>(patients(1));
  const auto at = std::make_shared<barrier>();
  const auto result = co_await one.try_route<&patient::pause_and_hang>(allowance, at);
  CHECK(kind_of(result) == error_kind::replica_lost);
  const int pauses = at->came_back;
  at->release();
  co_await testing::wait_until("both calls to come back", [&] { return at->came_back >= 2; });
  co_return pauses;
}

// ---- a value that can't be had

struct stuck_at_zero {
  void set(int n, std::shared_ptr<barrier> at) {
    if (n == 0) at->wait();
    number = n;
  }
  int get() const { return number; }
  int number = -1;
};

/// A replica that hangs at a value before it serves is replaced as one that hangs later.
task<> published_again(system& sys) {
  const auto at = std::make_shared<barrier>();
  auto options = patients(1);
  options.max_restarts = 1000;
  auto one = co_await sys.serve<stuck_at_zero>(options);
  co_await one.publish<&stuck_at_zero::set>(0, at);  // No replica lives that doesn't have it.
  co_await testing::wait_until("two replicas to be abandoned", [&] {
    return metric(sys, "troupe_replicas_abandoned_total", "patients") >= 2;
  });
  co_await one.publish<&stuck_at_zero::set>(1, at);
  const int number = co_await one.route<&stuck_at_zero::get>();
  CHECK(number == 1);
  const auto abandoned = metric(sys, "troupe_replicas_abandoned_total", "patients");
  at->release();
  co_await testing::wait_until("the abandoned to come back",
                               [&] { return at->came_back >= abandoned; });
}

// ---- an endpoint that is stuck

task<> slow_in_virtual_time(system& sys) {
  auto options = patients(2);
  options.max_restarts = 1000;
  auto two = co_await sys.serve<patient>(options);
  int answered = 0, lost = 0;
  for (int i = 0; i < 200; ++i) {
    const auto result = co_await two.try_route<&patient::count>();
    if (result.ok()) {
      ++answered;
    } else {
      CHECK(kind_of(result) == error_kind::replica_lost);
      ++lost;
    }
  }
  co_await sleep_for(1s);
  CHECK(answered > 50);
  CHECK(lost > 50);
  CHECK(metric(sys, "troupe_replicas_abandoned_total", "patients") == lost);
  CHECK(metric(sys, "troupe_replica_restarts_total", "patients") == lost);
}

task<std::string> hang_routed(service<patient> at, std::shared_ptr<barrier> where) {
  const auto result = co_await at.try_route<&patient::hang>(where);
  if (!result.ok()) co_return describe(result.error());
  co_return "generation " + std::to_string(result.value());
}

task<> goes_down(system& sys) {
  const auto at = std::make_shared<barrier>();
  auto options = patients(1);
  options.max_restarts = 0;
  auto one = co_await sys.serve<patient>(options);
  co_await hang_routed(one, at);
  const auto after = co_await one.try_route<&patient::count>();
  CHECK(kind_of(after) == error_kind::service_down);
  CHECK_THAT(describe(after.error()),
             Catch::Contains("replica 0 was busy for longer than 50 ms (max_call_time)"));
  at->release();
  co_await testing::wait_until("the call to come back", [&] { return at->came_back >= 1; });
}

struct counter {
  int add(int n) { return total += n; }
  int total = 0;
};

struct hang_report {
  std::vector<std::string> ends;
  int others = 0;
  double abandoned = 0, restarts = 0;
  std::size_t actors_then = 0, actors_at_last = 0;
  int came_back = 0;
};

/// Two replicas hang on a pool of two threads.
task<hang_report> two_hang(system& sys, bool idempotent) {
  hang_report report;
  const auto at = std::make_shared<barrier>();
  auto options = patients(2);
  options.router = routing::round_robin();
  if (idempotent) options.idempotent = {endpoint<&patient::hang>};
  auto two = co_await sys.serve<patient>(options);
  auto counters = co_await sys.serve<counter>({.name = "counters", .replicas = 4});
  std::vector<task<std::string>> calls;
  for (int i = 0; i < 2; ++i) calls.push_back(hang_routed(two, at));
  report.ends = co_await all(std::move(calls));  // Needs a thread: both of the pool are stuck.
  for (int i = 0; i < 1000; ++i) report.others = co_await counters.route<&counter::add>(0) + 1;
  co_await sys.scale(two, 2);  // Returns when both serve again.
  const auto again = co_await two.fanout<&patient::count>();
  report.abandoned = metric(sys, "troupe_replicas_abandoned_total", "patients");
  report.restarts = metric(sys, "troupe_replica_restarts_total", "patients");
  report.actors_then = sys.actors();
  at->release();
  for (int i = 0; i < 10000 && sys.actors() > report.actors_then - 2; ++i) co_await sleep_for(1ms);
  report.actors_at_last = sys.actors();
  report.came_back = at->came_back;
  // Both threads are back, and both replicas serve.
  co_await sys.scale(two, 2);
  const auto at_last = co_await two.fanout<&patient::count>();
  report.ends.push_back(std::to_string(at_last[0] + at_last[1] + static_cast<int>(again.size())));
  co_return report;
}

}  // namespace

TEST_CASE("hang: a coroutine that waits for longer than max_call_time is cancelled") {
  testing::play(cuts_off_who_waits);
}

TEST_CASE("hang: in virtual time a call that took too long is lost with its replica") {
  testing::log_off();
  system sys({.deterministic = true, .seed = 3, .faults = fault_plan::parse("slow=1:100ms")});
  sys.run(slow_in_virtual_time(sys));
}

TEST_CASE("hang: two hung replicas on two threads are replaced, and everybody else goes on") {
  testing::log_off();
  system sys({.threads = 2});
  const auto report = sys.run(two_hang(sys, false));
  const std::string lost = "replica_lost: patients.patient::hang: the replica died during the call";
  CHECK(report.ends == std::vector<std::string>{lost, lost, "6"});
  CHECK(report.abandoned == 2);
  CHECK(report.restarts == 2);
  CHECK(report.actors_at_last == report.actors_then - 2);
  CHECK(report.came_back == 2);
}

TEST_CASE("hang: an allowance is added to max_call_time until progress is noted again") {
  testing::log_off();
  const auto pauses = [](duration allowance) {
    system sys({.threads = 2});
    return sys.run(with_timeout(pauses_before_loss(sys, allowance), 30s));
  };
  CHECK(pauses(1h) == 1);  // The second wait has no allowance.
  CHECK(pauses(0s) == 0);
}

TEST_CASE("hang: a replica that hangs at what was published is replaced before it serves, too") {
  testing::log_off();
  system sys({.threads = 2});
  sys.run(with_timeout(published_again(sys), 30s));
}

TEST_CASE("hang: a service that goes down because of one says so") {
  testing::log_off();
  system sys({.threads = 2});
  sys.run(with_timeout(goes_down(sys), 30s));
}

TEST_CASE("hang: idempotent calls of a hung replica are retried elsewhere") {
  testing::log_off();
  system sys({.threads = 2});
  const auto report = sys.run(two_hang(sys, true));
  CHECK(report.ends ==
        std::vector<std::string>{"generation 1", "generation 1", report.ends.back()});
  CHECK(report.came_back == 2);
}

TEST_CASE("hang: a system that can't end because of a hung replica leaves with exit code 70") {
  testing::log_off();
  const auto child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    {
      system sys({.threads = 2, .stop_limit = 50ms});
      const auto main = [](system& sys) -> task<> {
        auto one = co_await sys.serve<patient>(patients(1));
        co_await hang_routed(one, std::make_shared<barrier>());
      };
      sys.run(main(sys));
    }
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 70);
}

}  // namespace troupe

// Endpoints that hold every thread of the pool, and threads that can't be had.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "runtime/actor/spare_threads.hpp"
#include "runtime/base/scarcity.hpp"
#include "runtime/service/supervision/readiness.hpp"
#include "runtime/system/run.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Where endpoints are held until the test lets them go, at the latest after a minute.
struct gate {
  std::atomic<bool> open{false};
  void wait() {
    for (int i = 0; i < 6000 && !open; ++i) std::this_thread::sleep_for(10ms);
  }
};

/// Opens a gate at the end of a test, also of one that fails: a system waits for its threads.
struct opened_at_end {
  std::shared_ptr<gate> which = std::make_shared<gate>();
  ~opened_at_end() { which->open = true; }
};

struct holder {
  int hold(std::shared_ptr<gate> at) {
    at->wait();
    return 1;
  }
  int quick() { return 2; }
};

/// A caller in a replica of its own.
struct asker {
  task<std::string> ask(service<holder> at, std::shared_ptr<gate> held) {
    const auto answer = co_await at.with({.deadline = 100ms}).try_route<&holder::hold>(held);
    co_return answer.ok() ? "ok" : describe(answer.error());
  }
};

duration since(time_point start) { return detail::strand::current().now() - start; }
time_point time_now() { return detail::strand::current().now(); }

/// When a turn is long where the log and the metrics are to tell it: longer than the steps of a
/// test on a busy machine.
constexpr auto turn_limit = 2s;
/// Longer than the system needs to find out, and shorter than the gate.
constexpr auto soon = 20s;

/// Three of them hold two threads, and the spare thread that comes for the third.
task<> all_threads_held(system& sys) {
  opened_at_end at;
  auto held = co_await sys.serve<holder>({.name = "held", .replicas = 3});
  auto others = co_await sys.serve<holder>({.name = "others"});
  auto start = time_now();
  const auto ends = co_await held.with({.deadline = 100ms}).fanout_settled<&holder::hold>(at.which);
  for (const auto& each : ends) CHECK(kind_of(each) == error_kind::deadline_exceeded);
  CHECK(since(start) < soon);
  start = time_now();
  const int answer = co_await others.route<&holder::quick>();
  CHECK(answer == 2);
  CHECK(since(start) < soon);
  auto askers = co_await sys.serve<asker>({.name = "asker"});
  const auto said = co_await askers.route<&asker::ask>(held, at.which);
  CHECK_THAT(said, holds("deadline_exceeded"));
  CHECK(since(start) < soon);
  CHECK(is_live(sys.metrics()));
  CHECK(metric(sys, "troupe_replicas_abandoned_total", "held") == 0);
}

task<> until_logged(const captured_stream& log, std::string text) {
  const auto start = time_now();
  while (log.text().find(text) == std::string::npos && since(start) < 30s) {
    co_await sleep_for(50ms);
  }
  CHECK_THAT(log.text(), holds(text));
}

serve_options hanging(std::size_t replicas) {
  return {.name = "held",
          .replicas = replicas,
          .max_restarts = 1000,
          .backoff = 1ms,
          .backoff_limit = 1ms,
          .max_call_time = 50ms};
}

task<> named_in_log(system& sys, const captured_stream& log) {
  opened_at_end at;
  auto own = co_await sys.serve<holder>({.name = "own", .placement = placement::thread});
  co_await own.with({.deadline = 100ms}).try_route<&holder::hold>(at.which);
  auto held = co_await sys.serve<holder>({.name = "held", .replicas = 3});
  co_await held.with({.deadline = 100ms}).fanout_settled<&holder::hold>(at.which);
  const auto start = time_now();
  co_await until_logged(log, "held (2 replicas)");
  CHECK_THAT(log.text(), holds("every thread of the pool"));
  const auto text = sys.metrics().text();
  CHECK(series(text, "troupe_pool_held_total") == 1);
  CHECK(metric(text, "troupe_replicas_in_long_turn", "held") >= 2);
  CHECK(metric(text, "troupe_replicas_in_long_turn", "own") == 1);
  const std::string on_its_own = "in one turn for long on a thread of its own service=own";
  CHECK_THAT(log.text(), holds(on_its_own) && !holds("own (1 replica)"));
  CHECK(series(text, "troupe_pool_threads") >= 3);
  at.which->open = true;
  while (series(sys.metrics().text(), "troupe_pool_threads") != 2 && since(start) < 60s) {
    co_await sleep_for(50ms);
  }
  CHECK(series(sys.metrics().text(), "troupe_pool_threads") == 2);
  CHECK_THAT(log.text(), holds("have come back"));
  const auto said = log.text();
  CHECK(said.find(on_its_own) == said.rfind(on_its_own));
}

// ---- sessions

/// Awaits a session that never ends.
task<> wait_for_session(service<holder> of) { co_await of.session({.exclusive = true}); }

/// Holds exclusive sessions for a moment each, one after the other.
task<> hold_often(service<holder> of) {
  for (;;) {
    const auto held = co_await of.session({.exclusive = true});
    co_await sleep_for(100ms);
  }
}

task<> session_in_log(system& sys, const captured_stream& log) {
  auto crossed = co_await sys.serve<holder>({.name = "crossed"});
  auto moving = co_await sys.serve<holder>({.name = "moving"});
  const auto held = co_await crossed.session({.exclusive = true});
  const std::string line = "sessions are awaited, and none has begun or ended for long";
  std::vector<task<>> parts;
  parts.push_back(until_logged(log, line + " service=crossed waiting=2"));
  for (int i = 0; i < 2; ++i) {
    parts.push_back(wait_for_session(crossed));
    parts.push_back(hold_often(moving));
  }
  co_await any(std::move(parts));
  CHECK(log.text().find(line) == log.text().rfind(line));
}

// ---- threads that can't be had

/// Two replicas are abandoned, and their endpoints hold both threads of the pool.
task<> abandoned_in_log(system& sys, const captured_stream& log) {
  opened_at_end at;
  auto held = co_await sys.serve<holder>(hanging(2));
  for (int lost = 0; lost < 2;) {
    const auto end = co_await held.try_route<&holder::hold>(at.which);
    lost += kind_of(end) == error_kind::replica_lost;
  }
  co_await until_logged(log, "every thread of the pool");
  CHECK_THAT(log.text(), holds("held (2 replicas)"));
  CHECK(metric(sys, "troupe_replicas_in_long_turn", "held") == 0);
}

task<> hangs_without_a_thread(system& sys) {
  opened_at_end at;
  auto held = co_await sys.serve<holder>(hanging(2));
  {
    const no_thread_left scarce;
    const auto lost = co_await held.try_route<&holder::hold>(at.which);
    CHECK(kind_of(lost) == error_kind::replica_lost);
  }
  // The watch goes on, and the thread that could not be had comes later.
  for (int i = 0; i < 3; ++i) {
    const auto lost = co_await held.try_route<&holder::hold>(at.which);
    CHECK(kind_of(lost) == error_kind::replica_lost);
  }
  const int answer = co_await held.route<&holder::quick>();
  CHECK(answer == 2);
}

struct slow_to_start {
  slow_to_start(const replica_info& info, std::shared_ptr<gate> at) {
    if (info.index > 0) at->wait();
  }
  int ask() { return 1; }
};

task<> starts_without_a_thread(system& sys) {
  opened_at_end at;
  auto one = co_await sys.serve<slow_to_start>({.name = "slow", .start_timeout = 100ms}, at.which);
  const no_thread_left scarce;
  const auto error = co_await error_of(sys.scale(one, 2));
  CHECK_THAT(error, holds("start_timeout"));
  const int answer = co_await one.route<&slow_to_start::ask>();
  CHECK(answer == 1);
}

task<> own_thread_cannot_be_had(system& sys) {
  const no_thread_left scarce;
  const auto serve = [](system& sys) -> task<> {
    co_await sys.serve<holder>({.name = "own", .placement = placement::thread, .backoff = 1ms});
  };
  const auto error = co_await error_of(serve(sys));
  CHECK_THAT(error, holds("service_down: own") && holds("it could not be started"));
}

task<> too_many_hang(system& sys) {
  opened_at_end at;
  auto held = co_await sys.serve<holder>(hanging(8));
  std::size_t lost = 0;
  std::string last;
  for (int i = 0; i < 40 && last.empty(); ++i) {
    try {
      for (const auto& each : co_await held.fanout_settled<&holder::hold>(at.which)) {
        const auto kind = kind_of(each);
        lost += kind == error_kind::replica_lost;
        if (kind == error_kind::service_down) last = describe(each.error());
      }
    } catch (const call_error& e) {
      last = e.what();
    }
    if (last.empty()) co_await sleep_for(10ms);  // The replicas are restarted.
  }
  CHECK(lost >= detail::spare_threads::threads_max - 8);
  CHECK(lost <= detail::spare_threads::threads_max + 8);
  CHECK_THAT(last, holds("threads of this process hang"));
}

void run_on_two(task<> (*main)(system&)) {
  log_off();
  system sys({.threads = 2});
  sys.run(main(sys));
}

}  // namespace

TEST_CASE("held pool: deadlines fire, and others are served") { run_on_two(all_threads_held); }

TEST_CASE("held pool: the log and the metrics name the services, and threads come back") {
  captured_stream log(stderr);
  log::set_level("info");
  system sys({.threads = 2, .long_turn = turn_limit});
  sys.run(named_in_log(sys, log));
}

TEST_CASE("held pool: the log names services where sessions are awaited in vain") {
  captured_stream log(stderr);
  log::set_level("info");
  system sys({.threads = 2, .long_turn = turn_limit});
  sys.run(session_in_log(sys, log));
}

TEST_CASE("held pool: the log names services whose abandoned replicas hold the threads") {
  captured_stream log(stderr);
  log::set_level("info");
  system sys({.threads = 2, .long_turn = turn_limit});
  sys.run(abandoned_in_log(sys, log));
}

TEST_CASE("held pool: the time after which a turn is long is positive, and 10 s unless said") {
  CHECK(system_options().long_turn == 10s);
  CHECK_THROWS_WITH(system({.threads = 2, .long_turn = duration(0)}),
                    holds("system: long_turn: expected a time > 0, got 0 s"));
}

TEST_CASE("held pool: a hung replica is lost though no thread can be made") {
  run_on_two(hangs_without_a_thread);
}

TEST_CASE("held pool: a late start is given up though no thread can be made") {
  run_on_two(starts_without_a_thread);
}

TEST_CASE("held pool: a replica whose own thread can't be made counts as a death") {
  run_on_two(own_thread_cannot_be_had);
}

TEST_CASE("held pool: a system whose threads can't be made throws") {
  const no_thread_left scarce;
  CHECK_THROWS_WITH(system({.threads = 2}), holds("expected room for 2 threads, got room for 0"));
}

TEST_CASE("held pool: a service goes down that holds too many threads") {
  run_on_two(too_many_hang);
}

TEST_CASE("held pool: a program that doesn't end within the limit of a signal leaves") {
  log_off();
  const auto child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const signal_watch signals([] {}, 100ms);
    raise(SIGTERM);
    for (;;) pause();
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 70);
}

/// The exit code of a child process in which an endpoint never returns, before `after` runs.
int leaves_with_a_hung_endpoint(duration of_signal, duration of_system, task<> (*after)()) {
  const auto child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::signal(SIGTERM, SIG_DFL);  // Not Catch2's handler.
    log::set_level("info");
    const signal_watch signals([] {}, of_signal);
    {
      system sys({.threads = 2, .stop_limit = of_system});
      const auto main = [](system& sys, task<> (*after)()) -> task<> {
        auto held = co_await sys.serve<holder>({.name = "held"});
        auto others = co_await sys.serve<holder>({.name = "others"});
        co_await others.route<&holder::quick>();
        co_await held.with({.deadline = 50ms}).try_route<&holder::hold>(std::make_shared<gate>());
        co_await after();
      };
      sys.run(main(sys, after));
    }
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

task<> end_at_once() { co_return; }
task<> signalled() {
  raise(SIGTERM);
  co_await sleep_for(1h);
}

TEST_CASE("held pool: a program that leaves without its hung replicas names their services") {
  captured_stream log(stderr);
  SECTION("at its end") {
    CHECK(leaves_with_a_hung_endpoint(no_limit, 100ms, end_at_once) == 70);
    CHECK_THAT(log.text(), holds("actors did not end in time"));
  }
  SECTION("after a signal") {
    CHECK(leaves_with_a_hung_endpoint(300ms, 30s, signalled) == 70);
    CHECK_THAT(log.text(), holds("did not end in time after a signal"));
  }
  CHECK_THAT(log.text(), holds("services_with_hung_replicas=held\n"));
}

}  // namespace troupe

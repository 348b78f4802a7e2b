// What must not grow with all that has ever been: services that are stopped, tables of replicas
// that start, calls that are given up.

#include <malloc.h>

#include "runtime/system/system_core.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

struct worker {
  int add(int n) { return total += n; }
  task<int> wait(duration pause) {
    tracked here;
    co_await sleep_for(pause);
    co_return total;
  }
  int total = 0;
};

std::string answered(const std::string& service) {
  return "troupe_requests_total{outcome=\"ok\",route=\"worker::add\",service=\"" + service + "\"}";
}

// ---- services

task<> open_and_stop(system& sys, std::string name) {
  const auto one = co_await sys.serve<worker>({.name = name});
  co_await one.route<&worker::add>(1);
  sys.stop(one);
  for (int i = 0; i < 2; ++i) {  // At once, and when its callers have heard of its end.
    const auto late = co_await one.try_route<&worker::add>(1);
    CHECK(kind_of(late) == error_kind::service_down);
    co_await sleep_for(1ms);
  }
}

task<> open_and_stop_many(system& sys, int count) {
  for (int i = 0; i < count; ++i) {
    const auto name = "service-" + std::to_string(i);
    co_await open_and_stop(sys, name);
  }
  co_await sleep_for(1ms);
}

task<> stopped_services_are_forgotten(system& sys) {
  co_await open_and_stop_many(sys, 1000);
  CHECK(detail::core_of(sys).services() == 0);
  CHECK(sys.actors() == 1);
  const auto next = co_await sys.serve<worker>({.name = "next"});
  // Nobody has the places of the others any more, the callers neither.
  CHECK(detail::core_of(sys).find_service("next")->place < 3);
}

task<> counts_of_few_stay_apart(system& sys) {
  co_await open_and_stop_many(sys, 300);
  const auto text = sys.metrics().text();
  const auto kept = metrics_registry::retired_values_max;
  CHECK(occurrences(text, "troupe_requests_total{") == 2 * (kept + 1));
  CHECK(series(text, answered("service-0")) == 1);
  CHECK(series(text, answered("service-" + std::to_string(kept - 1))) == 1);
  CHECK(series(text, answered("other")) == static_cast<double>(300 - kept));
  CHECK(occurrences(text, "troupe_replicas_desired{") == 0);
  // Another one with a name that is kept adds to it.
  co_await open_and_stop(sys, "service-0");
  co_await sleep_for(1ms);
  CHECK(series(sys.metrics().text(), answered("service-0")) == 2);
}

task<> what_is_held_counts_on(system& sys) {
  const auto failed = "troupe_requests_failed_total{reason=\"down\",service=\"held\"}";
  const auto one = co_await sys.serve<worker>({.name = "held"});
  co_await one.route<&worker::add>(1);
  sys.stop(one);
  for (int i = 0; i < 3; ++i) co_await one.try_route<&worker::add>(1);
  const auto text = sys.metrics().text();
  CHECK(series(text, answered("held")) == 1);
  CHECK(series(text, failed) == 3);
  CHECK(occurrences(text, "troupe_replicas_desired{service=\"held\"}") == 0);
  // Its name is free meanwhile, and the counts of both are one series.
  const auto again = co_await sys.serve<worker>({.name = "held"});
  co_await again.route<&worker::add>(1);
  CHECK(series(sys.metrics().text(), answered("held")) == 2);
  CHECK(series(sys.metrics().text(), "troupe_replicas_ready{service=\"held\"}") == 1);
}

task<outcome<int>> stop_soon(system* sys, service<worker> which) {
  co_await sleep_for(10ms);
  sys->stop(which);
  co_return 7;
}

/// Calls under way, and nobody but them knows the service when it is stopped.
task<> calls_outlive_handles(system& sys) {
  auto one = co_await sys.serve<worker>({.name = "brief"});
  std::vector<task<outcome<int>>> calls;
  for (int i = 0; i < 3; ++i) calls.push_back(one.try_route<&worker::wait>(duration(1h)));
  calls.push_back(stop_soon(&sys, one));
  one = {};
  const auto ends = co_await all(std::move(calls));
  for (std::size_t i = 0; i < 3; ++i) CHECK(kind_of(ends[i]) == error_kind::service_down);
  CHECK(ends[3].value() == 7);
  co_await sleep_for(1ms);
  CHECK(tracked::live == 0);
  CHECK(detail::core_of(sys).services() == 0);
}

/// Each call sets an alarm before the one that is set for the hour that it may take.
task<std::size_t> bytes_after_naps(service<worker> at, int count) {
  for (int i = 0; i < count; ++i) co_await at.route<&worker::wait>(duration(1ms));
  co_return mallinfo2().uordblks;
}

task<> alarms_are_few(system& sys) {
  const auto at = co_await sys.serve<worker>({.name = "nappers", .max_call_time = 1h});
  const auto before = co_await bytes_after_naps(at, 1000);
  const auto after = co_await bytes_after_naps(at, 20'000);
  CHECK(after < before + 64 * 1024);
}

task<> open_and_stop_once(system& sys) { co_await open_and_stop(sys, "brief"); }

// ---- replicas

/// Serves after as many microseconds as its index.
struct latecomer {
  explicit latecomer(const replica_info& info) : index(info.index) {}
  task<> catch_up() { co_await sleep_for(std::chrono::microseconds(1) * index); }
  std::size_t where() const { return index; }
  std::size_t index;
};

task<> tables_are_few(system& sys) {
  constexpr std::size_t replicas = 3000;
  const auto many = co_await sys.serve<latecomer>({.name = "many", .replicas = replicas});
  // A table for every 64 entries of the one before, or more: 64 * (1 + ln(3000 / 64)) are 311.
  CHECK(detail::core_of(sys).find_service("many")->version() <= 320);
  const auto indices = co_await many.fanout<&latecomer::where>();
  CHECK(indices.size() == replicas);
  co_await sys.scale(many, 1000);
  // One more for all that go, and none for each.
  CHECK(detail::core_of(sys).find_service("many")->version() <= 321);
  const auto left = co_await many.fanout<&latecomer::where>();
  CHECK(left.size() == 1000);
}

/// Its replica 502 takes a second to serve.
struct straggler : latecomer {
  using latecomer::latecomer;
  task<> catch_up() {
    if (index == 502) co_await sleep_for(1s);
  }
};

task<> look_after(const std::shared_ptr<detail::service_state>& at, duration pause,
                  std::size_t* ready) {
  co_await sleep_for(pause);
  *ready = at->ready();
}

/// Of a few that join a large table none waits for the others.
task<> a_few_serve_soon(system& sys) {
  const auto many = co_await sys.serve<straggler>({.name = "many", .replicas = 500});
  const auto state = detail::core_of(sys).find_service("many");
  std::size_t ready = 0;
  std::vector<task<>> growth;
  growth.push_back(sys.scale(many, 503));
  growth.push_back(look_after(state, 10ms, &ready));
  co_await all(std::move(growth));
  CHECK(ready == 502);
  CHECK(state->ready() == 503);
}

// ---- calls

task<> wait_routed(service<worker> at) { co_await at.route<&worker::wait>(duration(1h)); }

task<> give_up_in_turn(group& calls, service<worker> at, int count) {
  for (int i = 0; i < count; ++i) calls.start(wait_routed(at));
  co_await sleep_for(1ms);
}

task<> given_up_calls_leave_room(system& sys) {
  constexpr int count = 2000;
  const auto at = co_await sys.serve<worker>(
      {.name = "workers", .max_queued = count, .max_ongoing = count / 2});
  co_await with_group(give_up_in_turn, at, static_cast<int>(count));
  co_await sleep_for(1ms);
  CHECK(tracked::live == 0);
  CHECK(series(sys.metrics().text(), "troupe_requests_in_flight{service=\"workers\"}") == 0);
}

}  // namespace

TEST_CASE("growth: services that are stopped are forgotten, by their callers, too") {
  testing::play(stopped_services_are_forgotten);
}
TEST_CASE("growth: a hundred stopped services keep their counters, those of others add up") {
  testing::play(counts_of_few_stay_apart);
}
TEST_CASE("growth: a stopped service that is held counts on, without gauges") {
  testing::play(what_is_held_counts_on);
}
TEST_CASE("growth: nothing of a stopped service is left that holds the metrics") {
  testing::log_off();
  const auto metrics = std::make_shared<metrics_registry>();
  for (int i = 0; i < 2; ++i) {
    troupe::system sys({.deterministic = true, .metrics = metrics});
    sys.run(open_and_stop_once(sys));
  }
  CHECK(metrics.use_count() == 1);
}
TEST_CASE("growth: calls of a stopped service end well where nobody holds it") {
  testing::play(calls_outlive_handles);
}
TEST_CASE("growth: alarms that others come before are not set again") { play(alarms_are_few); }
TEST_CASE("growth: many replicas that start one by one cost few tables") {
  testing::play(tables_are_few);
}
TEST_CASE("growth: a few replicas of many serve soon after their start") {
  testing::play(a_few_serve_soon);
}
TEST_CASE("growth: calls that are given up, held back or at work, leave their room") {
  testing::play(given_up_calls_leave_room);
}

}  // namespace troupe

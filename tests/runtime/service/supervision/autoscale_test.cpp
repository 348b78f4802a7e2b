#include "runtime/service/supervision/autoscaler.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

constexpr auto interval = 100ms;

/// Takes one call at a time, 20 ms each: a replica serves 50 calls a second.
struct clerk {
  task<> serve() { co_await sleep_for(20ms); }
  void die() { throw fatal("asked to"); }
};

serve_options clerks() {
  return {.name = "clerks",
          .autoscale = {.min = 1,
                        .max = 8,
                        .target_queue_wait = 10ms,
                        .metrics_interval = interval,
                        .upscale_delay = 2 * interval,
                        .downscale_delay = 10 * interval},
          .max_ongoing = 1,
          .max_restarts = 1000};
}

double decisions(system& sys, const std::string& direction) {
  return metric(sys, "troupe_autoscale_decisions_total", "clerks",
                "direction=\"" + direction + "\",");
}
double desired(system& sys) { return metric(sys, "troupe_replicas_desired", "clerks"); }

task<> call_for(service<clerk> to, duration time) {
  const auto end = detail::strand::current().now() + time;
  while (detail::strand::current().now() < end) co_await to.route<&clerk::serve>();
}
task<> die_for(service<clerk> to, duration time) {
  const auto end = detail::strand::current().now() + time;
  while (detail::strand::current().now() < end) {
    co_await to.try_route<&clerk::die>();
    co_await sleep_for(10ms);
  }
}
/// So many callers, each with one call after the other.
task<> load(service<clerk> to, int callers, duration time) {
  std::vector<task<>> all_of_them;
  for (int i = 0; i < callers; ++i) all_of_them.push_back(call_for(to, time));
  co_await all(std::move(all_of_them));
}

task<> follows_the_load(system& sys) {
  auto to = co_await sys.serve<clerk>(clerks());
  CHECK(desired(sys) == 1);
  co_await load(to, 16, 3s);
  CHECK(desired(sys) == 8);
  CHECK(metric(sys, "troupe_replicas_ready", "clerks") == 8);
  CHECK(decisions(sys, "up") == 3);  // 2, 4, 8
  co_await sleep_for(1500ms);
  CHECK(desired(sys) == 7);  // Slowly down.
  co_await sleep_for(10s);
  CHECK(desired(sys) == 1);
  CHECK(metric(sys, "troupe_replicas_ready", "clerks") == 1);
  CHECK(decisions(sys, "down") == 7);
}

task<> stays_where_the_wait_is_short(system& sys) {
  auto to = co_await sys.serve<clerk>(clerks());
  co_await load(to, 1, 5s);
  CHECK(desired(sys) == 1);
}

task<> crashes_are_no_load(system& sys) {
  auto options = clerks();
  options.backoff_limit = 100ms;
  auto to = co_await sys.serve<clerk>(options);
  std::vector<task<>> both;
  both.push_back(die_for(to, 5s));
  both.push_back(die_for(to, 5s));
  co_await all(std::move(both));
  CHECK(metric(sys, "troupe_replica_restarts_total", "clerks") >= 10);
  CHECK(decisions(sys, "up") == 0);
}

task<> bounds_what_the_program_asks(system& sys) {
  auto to = co_await sys.serve<clerk>(clerks());
  co_await sys.scale(to, 12);
  co_await sleep_for(4 * interval);
  CHECK(desired(sys) == 8);
}

void run(task<> (*program)(system&)) {
  log_off();
  troupe::system sys({.deterministic = true, .seed = 5});
  sys.run(program(sys));
}

// ---- the decisions alone

/// Feeds an autoscaler with one window after the other.
struct windows {
  detail::autoscaler deciding{clerks().autoscale};
  detail::queue_look now{.replicas = 4};

  std::optional<std::size_t> next(std::uint64_t calls, duration wait) {
    now.at += interval;
    now.begun += calls;
    now.waited += static_cast<double>(calls) * std::chrono::duration<double>(wait).count();
    return deciding.decide(now);
  }
  /// The decision of the last of so many equal windows; none of the others may decide.
  std::optional<std::size_t> after(int count, std::uint64_t calls, duration wait) {
    for (int i = 1; i < count; ++i) CHECK_FALSE(next(calls, wait));
    return next(calls, wait);
  }
};

}  // namespace

TEST_CASE("autoscale: a service grows to max with the load, and shrinks to min without") {
  run(follows_the_load);
}
TEST_CASE("autoscale: a caller that never waits makes nothing grow") {
  run(stays_where_the_wait_is_short);
}
TEST_CASE("autoscale: replicas that crash don't make a service grow") { run(crashes_are_no_load); }
TEST_CASE("autoscale: a number out of its bounds is brought back") {
  run(bounds_what_the_program_asks);
}

TEST_CASE("autoscale: it grows in proportion, at most to twice the number and to max") {
  CHECK(windows().after(3, 10, 15ms) == 6u);
  CHECK(windows().after(3, 10, 1s) == 8u);
  windows near_max;
  near_max.now.replicas = 7;
  CHECK(near_max.after(3, 10, 1s) == 8u);
  near_max.now.replicas = 8;
  CHECK_FALSE(near_max.after(20, 10, 1s));
}

TEST_CASE("autoscale: between half the target and the target nothing changes") {
  CHECK_FALSE(windows().after(100, 10, 7ms));
  CHECK(windows().after(11, 10, 4ms) == 3u);
}

TEST_CASE("autoscale: one short wait begins the delays anew") {
  windows w;
  CHECK_FALSE(w.after(2, 10, 1s));
  CHECK_FALSE(w.next(10, 1ms));
  CHECK_FALSE(w.next(10, 1s));
  CHECK(w.next(10, 1s) == 8u);
}

TEST_CASE("autoscale: no decision while replicas die or change, or nothing could begin") {
  windows w;
  for (int i = 0; i < 20; ++i) {
    ++w.now.restarts;
    CHECK_FALSE(w.next(10, 1s));
  }
  w.now.at_rest = false;
  CHECK_FALSE(w.after(20, 10, 1s));
  w.now.at_rest = true;
  w.now.unfinished = 5;
  CHECK_FALSE(w.after(20, 0, 0ms));
  w.now.unfinished = 0;
  CHECK(w.after(10, 0, 0ms) == 3u);  // Idle.
}

TEST_CASE("autoscale: a growth that failed is not asked for again at once") {
  windows w;
  CHECK(w.after(3, 10, 1s) == 8u);
  w.deciding.growth_failed(w.now.at);
  CHECK_FALSE(w.after(9, 10, 1s));
  CHECK(w.next(10, 1s) == 8u);
}

TEST_CASE("autoscale: options out of range are refused") {
  const auto refusal = [](serve_options options) {
    troupe::system sys({.deterministic = true});
    const auto serve = [](system& sys, serve_options options) -> task<> {
      co_await sys.serve<clerk>(std::move(options));
    };
    return testing::message_of<std::invalid_argument>(
        [&] { sys.run(serve(sys, std::move(options))); });
  };
  auto options = clerks();
  options.autoscale.min = 9;
  CHECK(refusal(options) == "service \"clerks\": autoscale.max: expected at least min, 9, got 8");
  options = clerks();
  options.replicas = 9;
  CHECK(refusal(options) ==
        "service \"clerks\": replicas: expected a number from autoscale.min, 1, to max, 8, got 9");
  options = clerks();
  options.autoscale.target_queue_wait = 0ms;
  CHECK_THAT(refusal(options), has_text("autoscale.target_queue_wait: expected a time > 0"));
}

}  // namespace troupe

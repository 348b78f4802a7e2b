// Replicas whose start hangs, and how many restarts a service may have.

#include "tests/runtime/metrics/text.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Where constructors are stuck until the test lets them go.
struct gate {
  std::atomic<bool> open{false};
  void wait() { open.wait(false); }
  void release() {
    open = true;
    open.notify_all();
  }
};

/// Which starts hang.
struct plan {
  std::size_t index_from = 0;
  std::size_t generation_from = 0;
  bool hangs(const replica_info& info) const {
    return info.index >= index_from && info.generation >= generation_from;
  }
};

/// Hangs in `catch_up`.
struct late {
  late(const replica_info& info, plan when) : info(info), when(when) {}
  task<> catch_up() {
    if (when.hangs(info)) co_await sleep_for(24h);
  }
  std::size_t generation() { return info.generation; }
  void die() { throw fatal("asked to"); }
  task<> die_at(duration pause) {
    co_await sleep_for(pause);
    throw fatal("asked to");
  }
  const replica_info info;
  const plan when;
};

/// Hangs in its constructor, which holds a thread.
struct stuck {
  stuck(const replica_info& info, plan when, std::shared_ptr<gate> at) {
    if (when.hangs(info)) at->wait();
  }
  int add(int n) { return total += n; }
  int total = 0;
};

serve_options lates(std::size_t replicas) {
  return {.name = "lates", .replicas = replicas, .start_timeout = 10s};
}

time_point now() { return detail::strand::current().now(); }

task<> generation_routed(service<late> to) { co_await to.route<&late::generation>(); }
task<> fanned_out(service<late> to, duration pause) {
  co_await to.fanout_settled<&late::die_at>(pause);
}
task<> scale_at(system& sys, service<late> which, duration pause, std::size_t replicas) {
  co_await sleep_for(pause);
  co_await sys.scale(which, replicas);
}

// ---- a start that hangs

task<> first_start_hangs(system& sys) {
  const auto start = now();
  const auto error = co_await error_of(sys.serve<late>(lates(2), plan{.index_from = 1}));
  CHECK(error == "service_down: lates: replica 1 did not serve within 10 s (start_timeout), twice");
  CHECK(now() - start >= 20s);
  CHECK(now() - start <= 25s);
  co_await sleep_for(1ms);  // Its actors have been told to end.
  CHECK(sys.actors() == 1);
}

task<> restart_hangs(system& sys) {
  auto one = co_await sys.serve<late>(lates(1), plan{.generation_from = 1});
  co_await one.try_route<&late::die>();
  const auto start = now();
  const auto error = co_await error_of(generation_routed(one));
  CHECK(starts_with(error, "service_down: lates.late::generation: replica 0 did not serve within"));
  CHECK(now() - start <= 25s);
  CHECK(metric(sys, "troupe_replicas_abandoned_total", "lates") == 2);
}

/// The others serve on, and each start that hangs is followed by another.
task<> others_serve_on(system& sys) {
  auto options = lates(2);
  options.router = routing::round_robin();
  auto two = co_await sys.serve<late>(options, plan{.index_from = 1, .generation_from = 1});
  co_await two.try_route<&late::die>();
  co_await two.try_route<&late::die>();
  co_await sleep_for(60s);
  const auto generation = co_await two.route<&late::generation>();
  CHECK(generation == 1);
  CHECK(metric(sys, "troupe_replicas_ready", "lates") == 1);
  CHECK(metric(sys, "troupe_replicas_abandoned_total", "lates") >= 4);
}

// ---- a growth that hangs

task<> growth_hangs(system& sys) {
  auto one = co_await sys.serve<late>(lates(1), plan{.index_from = 2});
  const auto start = now();
  const auto error = co_await error_of(sys.scale(one, 4));
  CHECK(error ==
        "replica_lost: lates: scale: replica 2 did not serve within 10 s (start_timeout); it goes "
        "on with 1");
  CHECK(now() - start <= 12s);
  CHECK(metric(sys, "troupe_replicas_desired", "lates") == 1);
  CHECK(metric(sys, "troupe_replicas_ready", "lates") == 1);
  co_await sys.scale(one, 2);
  CHECK(metric(sys, "troupe_replicas_ready", "lates") == 2);
  CHECK(sys.actors() == 4);  // The driver's, the supervisor's, two replicas.
}

task<> later_wish_ends_growth(system& sys) {
  auto two = co_await sys.serve<late>(lates(2), plan{.index_from = 2});
  std::vector<task<std::string>> wishes;
  wishes.push_back(error_of(sys.scale(two, 3)));
  wishes.push_back(error_of(scale_at(sys, two, 1s, 1)));
  const auto start = now();
  const auto ends = co_await all(std::move(wishes));
  CHECK(now() - start == 1s);
  CHECK(ends == std::vector<std::string>{"cancelled: lates: scale: a later request for 1 replicas "
                                         "ended it; it goes on with 2",
                                         "none"});
  CHECK(metric(sys, "troupe_replicas_ready", "lates") == 1);
}

task<std::string> add_routed(service<stuck> to) {
  const auto result = co_await to.try_route<&stuck::add>(1);
  if (!result.ok()) co_return describe(result.error());
  co_return std::to_string(result.value());
}

/// Two constructors hold both threads of the pool.
task<std::vector<std::string>> stuck_in_constructors(system& sys, std::shared_ptr<gate> at) {
  std::vector<std::string> seen;
  auto one = co_await sys.serve<stuck>({.name = "stuck", .start_timeout = 100ms},
                                       plan{.index_from = 1}, std::shared_ptr<gate>(at));
  seen.push_back(co_await error_of(sys.scale(one, 3)));
  seen.push_back(co_await add_routed(one));
  seen.push_back(co_await error_of(sys.scale(one, 1)));
  const auto actors = sys.actors();
  at->release();
  for (int i = 0; i < 10'000 && sys.actors() > actors - 2; ++i) co_await sleep_for(1ms);
  seen.push_back(std::to_string(actors - sys.actors()));
  seen.push_back(co_await add_routed(one));
  co_return seen;
}

// ---- how many restarts there may be

task<> many_replicas_die(system& sys) {
  auto options = lates(24);
  auto all_of_them = co_await sys.serve<late>(options, plan{.index_from = 24});
  co_await fanned_out(all_of_them, 1ms);
  co_await sys.scale(all_of_them, 24);
  CHECK(metric(sys, "troupe_replicas_ready", "lates") == 24);
  CHECK(metric(sys, "troupe_replica_restarts_total", "lates") == 24);
  co_await fanned_out(all_of_them, 1ms);
  co_await sys.scale(all_of_them, 24);
  CHECK(metric(sys, "troupe_replicas_ready", "lates") == 24);
  co_await fanned_out(all_of_them, 1ms);  // More than 48 in a minute.
  const auto error = co_await error_of(generation_routed(all_of_them));
  CHECK(starts_with(error, "service_down: lates.late::generation: more than 48 restarts in 60 s"));
}

}  // namespace

TEST_CASE("start: one that hangs twice is an error of serve") { play(first_start_hangs); }
TEST_CASE("start: a restart that hangs twice is an error of those who wait") {
  play(restart_hangs);
}
TEST_CASE("start: a restart that hangs leaves the other replicas serving") {
  play(others_serve_on);
}
TEST_CASE("start: a growth that hangs is an error of scale, and the service goes on") {
  play(growth_hangs);
}
TEST_CASE("start: a later request for fewer replicas ends a growth at once") {
  play(later_wish_ends_growth);
}
TEST_CASE("start: constructors that hang on every thread hold up nobody else") {
  log_off();
  const auto at = std::make_shared<gate>();
  system sys({.threads = 2});
  const auto seen = sys.run(stuck_in_constructors(sys, at));
  CHECK(seen.at(0) ==
        "replica_lost: stuck: scale: replica 1 did not serve within 100 ms (start_timeout); it "
        "goes on with 1");
  CHECK(seen.at(1) == "1");
  CHECK(seen.at(2) == "none");
  CHECK(seen.at(3) == "2");
  CHECK(seen.at(4) == "2");
}
TEST_CASE("restarts: a service may have twice as many as it has replicas") {
  play(many_replicas_die);
}

}  // namespace troupe

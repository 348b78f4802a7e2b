// Cycles of services whose replicas are in other processes.

#include "runtime/coroutine/combine.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/runtime/remote/everywhere.hpp"
#include "tests/runtime/room.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Between two searches for cycles.
constexpr auto between_looks = 100ms;

struct hiker {
  using services = std::vector<service<hiker>>;

  /// Calls the first of `way`, which calls the next, and so on; the number of calls.
  task<int> walk(services way) {
    if (way.empty()) co_return 0;
    const auto next = way.front();
    way.erase(way.begin());
    const int calls = co_await next.route<&hiker::walk>(way);
    co_return calls + 1;
  }
  /// Holds a session of `first` while it opens one of `then`.
  task<> hold_two(service<room> first, service<room> then) {
    const auto one = co_await first.session({.exclusive = true});
    co_await sleep_for(200ms);
    const auto other = co_await then.session({.exclusive = true});
  }
};

double cycles_of(system& sys, const std::string& service) {
  return metric(sys, "troupe_service_cycles_total", service);
}

task<std::string> end_of_walk(service<hiker> first, hiker::services way) {
  auto walked = co_await first.try_route<&hiker::walk>(std::move(way));
  co_return walked ? "walked " + std::to_string(*walked) : describe(walked.error());
}

task<> walk_to_itself(system& sys) {
  auto one = co_await sys.serve<hiker>(
      {.name = "a", .placement = elsewhere(sys), .max_queued = 4, .max_ongoing = 2});
  const auto stuck = co_await end_of_walk(one, {one, one, one});
  CHECK_THAT(stuck, has_text("walk: services wait for each other in a cycle: a -> a"));
  CHECK(cycles_of(sys, "a") >= 1);
  const auto after = co_await end_of_walk(one, {one});
  CHECK(after == "walked 1");
}

TEST_CASE("remote cycles: a replica in another process that waits for itself") {
  run_everywhere(walk_to_itself, between_looks);
}

task<> walk_around(system& sys) {
  const serve_options narrow{.max_queued = 1, .max_ongoing = 1};
  auto here = narrow, there = narrow, beyond = narrow;
  here.name = "a";
  there.name = "b";
  beyond.name = "c";
  there.placement = beyond.placement = elsewhere(sys);
  const auto a = co_await sys.serve<hiker>(here);
  const auto b = co_await sys.serve<hiker>(there);
  const auto c = co_await sys.serve<hiker>(beyond);
  const auto stuck = co_await end_of_walk(a, {b, c, a});
  CHECK_THAT(stuck, has_text("services wait for each other in a cycle: a -> b -> c -> a"));
  for (const auto* name : {"a", "b", "c"}) CHECK(cycles_of(sys, name) >= 1);
  const auto after = co_await end_of_walk(a, {b, c});
  CHECK(after == "walked 2");
}

TEST_CASE("remote cycles: services here and in two other processes") {
  run_everywhere(walk_around, between_looks);
}

/// Two walks, each of which fills the other one's service from its own process.
task<> wait_for_room_there(system& sys) {
  const serve_options narrow{.max_queued = 1, .max_ongoing = 1};
  auto left = narrow, right = narrow;
  left.name = "left";
  right.name = "right";
  left.placement = right.placement = elsewhere(sys);
  const auto l = co_await sys.serve<hiker>(left);
  const auto r = co_await sys.serve<hiker>(right);
  const auto stuck = co_await end_of_walk(l, {r, l, r});
  CHECK_THAT(stuck, has_text("services wait for each other in a cycle"));
  const auto after = co_await end_of_walk(l, {r});
  CHECK(after == "walked 1");
}

TEST_CASE("remote cycles: two processes that call each other") {
  run_everywhere(wait_for_room_there, between_looks);
}

struct numbered_worker {
  std::uint64_t number_of_work() { return detail::strand::current().slice; }
};

task<> compare_numbers(system& sys) {
  auto two = co_await sys.serve<numbered_worker>(
      {.name = "two", .replicas = 2, .placement = placement::process});
  const auto numbers = co_await two.fanout<&numbered_worker::number_of_work>();
  REQUIRE(numbers.size() == 2);
  CHECK(numbers[0] >> 48 != numbers[1] >> 48);  // Above the bits of an address.
}

TEST_CASE("remote cycles: work of two processes has different numbers, whatever its addresses") {
  troupe::system sys;
  sys.run(compare_numbers(sys));
}

TEST_CASE("remote cycles: answers that take longer than the time between looks are waited for") {
  troupe::system sys({.deterministic = true,
                      .seed = 7,
                      .faults = fault_plan::parse("delay=1:400ms"),
                      .cycle_check = between_looks});
  sys.run(with_timeout(wait_for_room_there(sys), 30s));
}

task<std::string> end_of_hold(service<hiker> by, service<room> first, service<room> then) {
  const auto held = co_await by.try_route<&hiker::hold_two>(first, then);
  co_return held ? "none" : describe(held.error());
}

/// Returns how two hikers end that open the same two sessions, each in another order.
task<std::vector<std::string>> cross(service<hiker> one, service<hiker> other, service<room> rooms,
                                     service<room> halls) {
  std::vector<task<std::string>> both;
  both.push_back(end_of_hold(one, rooms, halls));
  both.push_back(end_of_hold(other, halls, rooms));
  co_return co_await all(std::move(both));
}

task<> cross_sessions(system& sys) {
  const auto rooms = co_await sys.serve<room>({.name = "rooms"});
  const auto halls = co_await sys.serve<room>({.name = "halls"});
  const auto one = co_await sys.serve<hiker>({.name = "one", .placement = elsewhere(sys)});
  const auto other = co_await sys.serve<hiker>({.name = "other"});
  const auto ends = co_await cross(one, other, rooms, halls);
  INFO(ends[0] << "\n" << ends[1]);
  const auto stuck = ends[0] == "none" ? ends[1] : ends[0];
  CHECK_THAT(stuck, has_text("a session was awaited: services wait for each other in a cycle: "));
  const auto after = co_await end_of_hold(one, rooms, halls);
  CHECK(after == "none");
}

TEST_CASE("remote cycles: exclusive sessions of which each holder awaits the other's") {
  run_everywhere(cross_sessions, between_looks);
}

task<> cross_sessions_here(system& sys) {
  const auto rooms = co_await sys.serve<room>({.name = "rooms"});
  const auto halls = co_await sys.serve<room>({.name = "halls"});
  const auto one = co_await sys.serve<hiker>({.name = "one"});
  const auto ends = co_await cross(one, one, rooms, halls);
  INFO(ends[0] << "\n" << ends[1]);
  CHECK((ends[0] != "none" || ends[1] != "none"));
  CHECK(cycles_of(sys, "rooms") >= 1);
}

TEST_CASE("cycles: exclusive sessions in one process") {
  system sys({.cycle_check = 5ms});
  sys.run(cross_sessions_here(sys));
}

task<std::string> leave_later(std::optional<session<room>>& held) {
  co_await sleep_for(20 * between_looks);
  held.reset();
  co_return "left";
}

/// Who holds a session and is not in a cycle goes on, however long that takes.
task<> hold_for_long(system& sys) {
  const auto rooms = co_await sys.serve<room>({.name = "rooms"});
  const auto halls = co_await sys.serve<room>({.name = "halls"});
  const auto one = co_await sys.serve<hiker>({.name = "one", .placement = elsewhere(sys)});
  std::optional mine = co_await halls.session({.exclusive = true});
  std::vector<task<std::string>> both;
  both.push_back(end_of_hold(one, rooms, halls));
  both.push_back(leave_later(mine));
  const auto ends = co_await all(std::move(both));
  CHECK(ends[0] == "none");
  CHECK(cycles_of(sys, "rooms") == 0);
}

TEST_CASE("remote cycles: a session that the main coroutine holds is in none") {
  run_everywhere(hold_for_long, between_looks);
}

}  // namespace
}  // namespace troupe

// Nodes in virtual time: who is busy, who hangs, and who is only out of reach for a moment.

#include "runtime/cluster/simulated_nodes.hpp"
#include "runtime/system/system_core.hpp"
#include "tests/runtime/metrics/series.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

system* running = nullptr;  ///< What the roles of the test that runs are in.

class clerk {
 public:
  clerk(const replica_info& info, int start_s) : info_(info) {
    if (start_s > 0 && info.index > 0) take(std::chrono::seconds(start_s));
  }
  int work(int seconds) {
    take(std::chrono::seconds(seconds));
    return seconds;
  }
  /// The first on a place never comes back in time.
  std::size_t hang() {
    if (info_.generation == 0) take(1h);
    return info_.generation;
  }
  std::size_t generation() { return info_.generation; }

 private:
  static void take(duration time) { detail::core_of(*running).spend(time); }
  const replica_info info_;
};

detail::simulated_nodes& nodes() { return detail::core_of(*running).simulate_nodes(); }
time_point now() { return detail::strand::current().now(); }

serve_options clerks(std::size_t replicas) {
  return {.name = "clerks",
          .replicas = replicas,
          .placement = placement::node("node-*"),
          .router = routing::round_robin()};
}

/// Plays it with simulated nodes. `threads`, if it is not 0, limits the threads of all processes.
void play_on_nodes(task<> (*main)(system&), std::uint64_t seed = 1, std::size_t threads = 0) {
  log_off();
  system sys({.deterministic = true, .seed = seed});
  running = &sys;
  if (threads > 0) detail::core_of(sys).limit_threads(threads);
  nodes();
  sys.run(main(sys));
}

task<int> work_routed(service<clerk> to, int seconds) {
  const int worked = co_await to.route<&clerk::work>(seconds);
  co_return worked;
}

task<int> work_all(service<clerk> to, int calls, int seconds) {
  std::vector<task<int>> all_of_them;
  for (int i = 0; i < calls; ++i) all_of_them.push_back(work_routed(to, seconds));
  const auto worked = co_await all(std::move(all_of_them));
  co_return static_cast<int>(worked.size());
}

task<> hear_after(duration pause, void (*what)()) {
  co_await sleep_for(pause);
  what();
}

// ---- places

task<> use_places(system& sys) {
  nodes().join("node-1", 1);
  nodes().join("node-2", 3);
  auto three = co_await sys.serve<clerk>(clerks(3), 0);
  const auto here = nodes().list();
  REQUIRE(here.size() == 2);
  CHECK(here[0].replicas == 1);
  CHECK(here[1].replicas == 2);
  sys.stop(three);
  co_await sleep_for(1s);
  const auto left = nodes().list();
  CHECK(left[0].replicas + left[1].replicas == 0);
}

task<> serve_clerks(system& sys, std::size_t replicas) {
  auto all_of_them = co_await sys.serve<clerk>(clerks(replicas), 0);
  CHECK(metric(*running, "troupe_replicas_ready", "clerks") == static_cast<double>(replicas));
}

task<> wait_for_room(system& sys) {
  nodes().join("node-1", 2);
  nodes().join("node-2", 2);
  nodes().join("other", 7);
  const captured_stderr log;
  log::set_level("warn");
  std::vector<task<>> parts;
  parts.push_back(serve_clerks(sys, 8));
  parts.push_back(hear_after(4s, [] { log::warn("four seconds"); }));
  parts.push_back(hear_after(20s, [] { nodes().join("node-3", 4); }));
  co_await all(std::move(parts));
  log::set_level("off");
  const auto text = log.text();
  const auto warning = text.find("replicas wait for nodes that join or have more --slots");
  CHECK_THAT(text, has_text("--slots service=clerks waiting=4 nodes=node-* joined=2 slots=4 "
                            "taken=4"));
  CHECK(warning > text.find("four seconds"));
  CHECK(text.find("replicas wait", warning + 1) == text.npos);
}

// ---- busy and hung

/// For longer than a process may be silent, on every thread of the node.
task<> be_busy(system& sys) {
  nodes().join("node-1", 2);
  auto two = co_await sys.serve<clerk>(clerks(2), 0);
  const auto start = now();
  const int worked = co_await work_all(two, 4, 25);
  CHECK(worked == 4);
  CHECK(now() - start == 50s);  // Two at once.
  CHECK(metric(*running, "troupe_replica_restarts_total", "clerks") == 0);
}

task<> hold_threads(service<clerk> of) { co_await of.fanout<&clerk::work>(2); }
task<> work_one_after_the_other(service<clerk> to) {
  for (int i = 0; i < 4; ++i) {
    const int worked = co_await work_all(to, 2, 1);
    CHECK(worked == 2);
  }
}

/// Calls of another service hold the controller's threads for longer than max_call_time.
task<> work_behind_a_full_pool(system& sys) {
  nodes().join("node-1", 2);
  auto options = clerks(2);
  options.max_call_time = 4s;
  auto two = co_await sys.serve<clerk>(options, 0);
  auto here = co_await sys.serve<clerk>({.name = "clerks here", .replicas = 40}, 0);
  std::vector<task<>> both;
  both.push_back(hold_threads(here));
  both.push_back(work_one_after_the_other(two));
  co_await all(std::move(both));
  CHECK(metric(*running, "troupe_replica_restarts_total", "clerks") == 0);
}

task<> hang_on_all(system& sys) {
  nodes().join("node-1", 2);
  auto options = clerks(2);
  options.max_call_time = 4s;
  options.idempotent = {endpoint<&clerk::hang>};
  auto two = co_await sys.serve<clerk>(options, 0);
  const auto start = now();
  const auto generations = co_await two.fanout_settled<&clerk::hang>();
  for (const auto& each : generations) {
    CHECK(describe(each.error()).starts_with("replica_lost: clerks.clerk::hang"));
  }
  CHECK(now() - start <= 6s);
  co_await sys.scale(two, 2);
  const auto successors = co_await two.fanout<&clerk::generation>();
  CHECK(successors == std::vector<std::size_t>{1, 1});
  CHECK(metric(*running, "troupe_replicas_abandoned_total", "clerks") == 2);
}

// ---- out of reach

task<> work_through_a_stall(system& sys) {
  nodes().join("node-1", 3);
  auto options = clerks(3);
  options.max_call_time = 1s;
  auto three = co_await sys.serve<clerk>(options, 0);
  nodes().cut("node-1", 1500ms);
  const auto generations = co_await three.fanout<&clerk::generation>();
  CHECK(generations == std::vector<std::size_t>{0, 0, 0});
  CHECK(metric(*running, "troupe_replica_restarts_total", "clerks") == 0);
}

/// All are silent for longer than that is borne, and are lost together.
task<> lose_a_silent_node(system& sys) {
  nodes().join("node-1", 3);
  auto options = clerks(3);
  options.max_call_time = 1s;
  options.max_restarts = 1;
  auto three = co_await sys.serve<clerk>(options, 0);
  nodes().cut("node-1", 4s);
  co_await sleep_for(10s);
  const auto generations = co_await three.fanout<&clerk::generation>();
  CHECK(generations == std::vector<std::size_t>{1, 1, 1});
}

task<> come_back_after_a_cut(system& sys) {
  nodes().join("node-1", 2);
  auto options = clerks(2);
  options.max_restarts = 1;
  auto two = co_await sys.serve<clerk>(options, 0);
  nodes().cut("node-1", 8s);
  co_await sleep_for(6s);
  CHECK(nodes().list().empty());
  CHECK(metric(*running, "troupe_replicas_ready", "clerks") == 0);
  co_await sleep_for(4s);
  CHECK(nodes().list().size() == 1);
  const auto generations = co_await two.fanout<&clerk::generation>();
  CHECK(generations == std::vector<std::size_t>{1, 1});
}

/// Whose node dies just before the growth is as old as start_timeout has as long again to find
/// another place.
task<> grow_while_a_node_dies(system& sys) {
  nodes().join("node-1", 1);
  auto options = clerks(1);
  options.start_timeout = 10s;
  auto some = co_await sys.serve<clerk>(options, 8);
  nodes().join("node-2", 1);
  const auto start = now();
  std::vector<task<>> parts;
  parts.push_back(sys.scale(some, 2));
  parts.push_back(hear_after(7s, [] { nodes().kill("node-2"); }));
  parts.push_back(hear_after(15s, [] { nodes().join("node-2", 1); }));
  co_await all(std::move(parts));
  CHECK(now() - start >= 23s);
  CHECK(metric(*running, "troupe_replicas_ready", "clerks") == 2);
}

}  // namespace

TEST_CASE(
    "simulated nodes: a replica goes where the most slots are free, and gives its slot back") {
  play_on_nodes(use_places);
}
TEST_CASE("simulated nodes: replicas that wait for room are warned of with the numbers, once") {
  play_on_nodes(wait_for_room);
}
TEST_CASE("simulated nodes: replicas that are busy on all threads are not lost") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) play_on_nodes(be_busy, seed);
}
TEST_CASE(
    "simulated nodes: those that are busy are not lost while the controller has no thread to "
    "spare") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) play_on_nodes(work_behind_a_full_pool, seed, 2);
}
TEST_CASE("simulated nodes: replicas that hang on all threads are replaced") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) play_on_nodes(hang_on_all, seed);
}
TEST_CASE("simulated nodes: a link that stalls for a moment loses nobody, whatever max_call_time") {
  play_on_nodes(work_through_a_stall);
}
TEST_CASE("simulated nodes: replicas whose node is silent for too long are one loss") {
  play_on_nodes(lose_a_silent_node);
}
TEST_CASE("simulated nodes: one that was cut off joins again, and its replicas are made again") {
  play_on_nodes(come_back_after_a_cut);
}
TEST_CASE("simulated nodes: who loses its place in a growth has start_timeout to find another") {
  play_on_nodes(grow_while_a_node_dies);
}

}  // namespace troupe

// A node all of whose threads are taken, and one that is lost with many replicas.

#include "runtime/metrics/registry.hpp"
#include "runtime/service/progress.hpp"
#include "runtime/system/system_core.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/runtime/remote/everywhere.hpp"
#include "tests/runtime/support.hpp"
#include "tests/runtime/wait_until.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Where calls are stuck until the test lets them go.
struct gate {
  std::atomic<bool> open{false};
  std::atomic<int> came_back{0};
};
gate barrier;

class worker {
 public:
  explicit worker(const replica_info& info) : info_(info) {}
  int work(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    return milliseconds;
  }
  std::size_t hang() {
    if (info_.generation == 0) {
      barrier.open.wait(false);
      ++barrier.came_back;
    }
    return info_.generation;
  }
  int work_with(std::int64_t allowance_ms, int milliseconds) {
    note_progress(std::chrono::milliseconds(allowance_ms));
    return work(milliseconds);
  }
  std::size_t generation() const { return info_.generation; }

 private:
  const replica_info info_;
};

serve_options workers(std::size_t replicas) {
  return {.name = "workers",
          .replicas = replicas,
          .placement = placement::node("gpu-*"),
          .router = routing::round_robin()};
}

task<int> work_routed(service<worker> to) {
  const int worked = co_await to.route<&worker::work>(2000);
  co_return worked;
}

task<std::string> hang_routed(service<worker> to) {
  const auto result = co_await to.try_route<&worker::hang>();
  if (!result.ok()) co_return describe(result.error());
  co_return std::to_string(result.value());
}

/// Two calls one after the other on one thread: for longer than the node may be silent, and than
/// the second one would need by itself.
task<> be_full(system& sys) {
  auto options = workers(2);
  options.max_call_time = 2500ms;
  auto two = co_await sys.serve<worker>(options);
  std::vector<task<int>> calls;
  for (int i = 0; i < 2; ++i) calls.push_back(work_routed(two));
  const auto worked = co_await all(std::move(calls));
  CHECK(worked == std::vector<int>{2000, 2000});
  CHECK(metric(sys, "troupe_replica_restarts_total", "workers") == 0);
}

task<> hang_there(system& sys) {
  auto options = workers(2);
  options.max_call_time = 300ms;
  auto two = co_await sys.serve<worker>(options);
  std::vector<task<std::string>> calls;
  for (int i = 0; i < 2; ++i) calls.push_back(hang_routed(two));
  const auto ends = co_await all(std::move(calls));
  const std::string lost = "replica_lost: workers.worker::hang: the replica died during the call";
  CHECK(ends == std::vector<std::string>{lost, lost});
  co_await sys.scale(two, 2);  // Until both are back.
  const auto generations = co_await two.fanout<&worker::generation>();
  CHECK(generations == std::vector<std::size_t>{1, 1});
}

/// A step for longer than max_call_time and than the node may be silent, in the time that it has.
task<> take_the_time(system& sys) {
  auto options = workers(1);
  options.max_call_time = 300ms;
  auto one = co_await sys.serve<worker>(options);
  const no_thread_left scarce;  // A spare thread could answer for the node.
  const int worked = co_await one.route<&worker::work_with>(60'000, 2500);
  CHECK(worked == 2500);
  const auto result = co_await one.try_route<&worker::work_with>(0, 2000);
  CHECK(is_kind(result.error(), error_kind::replica_lost));
  // The caller hears of the loss before the replica is restarted.
  co_await testing::wait_until(
      "a restart", [&] { return metric(sys, "troupe_replica_restarts_total", "workers") == 1; });
}

task<> until_served(system& sys, double ready) {
  co_await testing::wait_until("the workers to be ready", [&] {
    return metric(sys, "troupe_replicas_ready", "workers") == ready;
  });
}

/// Twelve replicas on each of two nodes, of which one is lost: more than max_restarts.
task<> lose_a_node(system& sys, std::unique_ptr<detail::node>& one,
                   detail::link_client_options successor, system& there) {
  auto options = workers(24);
  options.max_restarts = 3;
  auto all_of_them = co_await sys.serve<worker>(options);
  one = nullptr;
  one = std::make_unique<detail::node>(there, successor);
  co_await testing::wait_until("twelve restarts", [&] {
    return metric(sys, "troupe_replica_restarts_total", "workers") >= 12;
  });
  co_await until_served(sys, 24);
  const auto generations = co_await all_of_them.fanout<&worker::generation>();
  std::size_t restarted = 0;
  for (const auto generation : generations) restarted += generation;
  CHECK(restarted == 12);
}

task<> find_no_room(system& sys) {
  auto options = workers(9);
  options.start_timeout = 200ms;
  auto nine = co_await sys.serve<worker>(options);
  std::string error = "none";
  try {
    co_await sys.scale(nine, 10);
  } catch (const call_error& e) {
    error = e.what();
  }
  CHECK(error ==
        "replica_lost: workers: scale: replica 9 has found no place within 200 ms (start_timeout); "
        "it goes on with 9");
  const auto generations = co_await nine.fanout<&worker::generation>();
  CHECK(generations.size() == 9);
}

}  // namespace

TEST_CASE("busy node: calls that wait there for a thread are not lost") {
  troupe::system sys({.listen = "127.0.0.1:0"});
  troupe::system there({.threads = 1});
  const detail::node joining(there, at(sys));
  sys.run(with_timeout(be_full(sys), 30s));
}
TEST_CASE("busy node: calls that hang on every thread of it cost their replicas alone") {
  barrier.open = false;
  {
    troupe::system sys({.listen = "127.0.0.1:0"});
    troupe::system there({.threads = 2});
    const detail::node joining(there, at(sys));
    sys.run(with_timeout(hang_there(sys), 30s));
    CHECK(detail::core_of(there).hanging_threads() == 2);
    barrier.open = true;
    barrier.open.notify_all();
  }
  CHECK(barrier.came_back == 2);
}
TEST_CASE("busy node: a call that has an allowance there is not lost") {
  troupe::system sys({.listen = "127.0.0.1:0"});
  troupe::system there({.threads = 1});
  const detail::node joining(there, at(sys));
  sys.run(with_timeout(take_the_time(sys), 30s));
}
TEST_CASE("busy node: its loss counts as one restart, however many replicas it had") {
  troupe::system sys({.listen = "127.0.0.1:0"});
  troupe::system here, there, later;
  auto options = at(sys);
  options.slots = 12;
  auto lost = std::make_unique<detail::node>(here, options);
  options.name = "gpu-2";
  const detail::node stays(there, options);
  options.name = "gpu-3";
  sys.run(with_timeout(lose_a_node(sys, lost, options, later), 30s));
}
TEST_CASE("busy node: a growth that finds no room on any is an error") {
  troupe::system sys({.listen = "127.0.0.1:0"});
  troupe::system there;
  const detail::node joining(there, at(sys));
  sys.run(with_timeout(find_no_room(sys), 30s));
}

}  // namespace troupe

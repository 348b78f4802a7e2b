#include "actors/openenv/server/hub.hpp"

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <chrono>
#include <memory>
#include <thread>

#include "actors/worlds/registry.hpp"
#include "tests/test.hpp"

namespace troupe::openenv_server {
namespace {

using namespace std::chrono_literals;

/// Counts the copies of it that other threads than the first one's make.
class watched {
 public:
  explicit watched(std::atomic<int>* elsewhere) : elsewhere_(elsewhere) {}
  watched(const watched& other) : elsewhere_(other.elsewhere_), home_(other.home_) {
    if (std::this_thread::get_id() != home_) ++*elsewhere_;
  }

 private:
  std::atomic<int>* elsewhere_;
  std::thread::id home_ = std::this_thread::get_id();
};

TEST_CASE("openenv server: a worker keeps no copy of what is called after it") {
  metrics_registry metrics;
  hub of([] { return make_vector_environment("CartPole-v1", 1); }, {.threads = 1}, metrics);
  std::atomic<int> elsewhere{0};
  const watched session(&elsewhere);
  std::thread::id worker;
  bool was_called = false;
  of.run([&worker] { worker = std::this_thread::get_id(); },
         [&was_called, session] { was_called = true; });  // const, as `session` is
  const auto waits = boost::asio::make_work_guard(of.io);
  of.io.run_one_for(20s);
  CHECK(was_called);
  CHECK(worker != std::this_thread::get_id());
  CHECK(elsewhere == 0);
  of.end_workers();
}

}  // namespace
}  // namespace troupe::openenv_server

#pragma once
// Internal to this folder: Asio stays out of the headers that users include.

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <thread>

#include "runtime/service/state/timing_wheel.hpp"

namespace troupe::openenv {

/// The thread that reads and writes for every OpenEnv session of this process. It starts with its
/// first holder and ends with its last, which must be another thread: once the sessions have said
/// goodbye, or after two seconds.
class io_thread {
 public:
  static std::shared_ptr<io_thread> of_this_process();
  io_thread();
  ~io_thread();
  io_thread(const io_thread&) = delete;

  boost::asio::io_context& context() noexcept { return context_; }

  /// Somebody with a deadline. On the thread alone.
  struct deadline : troupe::detail::timing_wheel::entry {
    /// Told once the time has passed, if it was not left before. In its own code alone.
    std::function<void()> passed;
  };
  /// It passes at `at`, or up to 25 ms later.
  void watch(deadline& which, time_point at);

 private:
  void tick();

  troupe::detail::timing_wheel wheel_;  // before the context, whose handlers have entries of it
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer timer_;
  bool ticking_ = false;
  std::thread thread_;
};

}  // namespace troupe::openenv

#pragma once
// A thread that waits for descriptors and deadlines of many users. It has a header of its own so
// that Asio stays out of the headers that users include. Internal to the project.

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <thread>

#include "runtime/service/state/timing_wheel.hpp"

namespace troupe::detail {

class io_thread {
 public:
  /// Starts the thread. `name` is that of quiet_thread().
  explicit io_thread(const char* name);
  /// Ends the thread once its handlers have no more work, or after two seconds.
  ~io_thread();
  io_thread(const io_thread&) = delete;

  boost::asio::io_context& context() noexcept { return context_; }

  /// A deadline. It is used only on the I/O thread.
  struct deadline : timing_wheel::entry {
    /// Called once the time has passed, unless the deadline has left the wheel before.
    std::function<void()> passed;
  };
  /// Starts a deadline, which passes at `at` or up to 25 ms later.
  void watch(deadline& which, time_point at);

 private:
  void tick();

  timing_wheel wheel_;  // before the context, whose handlers own its entries
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer timer_;
  bool ticking_ = false;
  std::thread thread_;
};

}  // namespace troupe::detail

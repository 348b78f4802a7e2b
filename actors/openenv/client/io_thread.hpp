#pragma once
// Internal to this folder: the thread of all OpenEnv sessions. It has a header of its own so that
// Asio stays out of the headers that users include.

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <thread>

#include "runtime/service/state/timing_wheel.hpp"

namespace troupe::openenv {

/// The thread that reads and writes for every OpenEnv session of this process. It starts with its
/// first owner and ends with its last owner, which must be on another thread. It ends once the
/// sessions have closed their connections, or after two seconds.
class io_thread {
 public:
  static std::shared_ptr<io_thread> of_this_process();
  io_thread();
  ~io_thread();
  io_thread(const io_thread&) = delete;

  boost::asio::io_context& context() noexcept { return context_; }

  /// A deadline. It is used only on the I/O thread.
  struct deadline : troupe::detail::timing_wheel::entry {
    /// Called once the time has passed, unless the deadline has left the wheel before.
    std::function<void()> passed;
  };
  /// Starts a deadline, which passes at `at` or up to 25 ms later.
  void watch(deadline& which, time_point at);

 private:
  void tick();

  troupe::detail::timing_wheel wheel_;  // before the context, whose handlers own its entries
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer timer_;
  bool ticking_ = false;
  std::thread thread_;
};

}  // namespace troupe::openenv

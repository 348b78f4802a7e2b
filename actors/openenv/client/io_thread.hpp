#pragma once
// Internal to this folder: the thread of all OpenEnv sessions.

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>

#include "runtime/net/io_thread.hpp"
#include "runtime/service/state/timing_wheel.hpp"

namespace troupe::openenv {

/// The wheel of an io_thread. It outlives the handlers, which own its entries.
struct deadline_wheel {
  troupe::detail::timing_wheel wheel;
};

/// The thread that reads and writes for every OpenEnv session of this process. It starts with its
/// first owner and ends with its last owner, which must be on another thread.
class io_thread : private deadline_wheel, public troupe::detail::io_thread {
 public:
  static std::shared_ptr<io_thread> of_this_process();
  io_thread();
  ~io_thread();

  /// A deadline. It is used only on the I/O thread.
  struct deadline : troupe::detail::timing_wheel::entry {
    /// Called once the time has passed, unless the deadline has left the wheel before.
    std::function<void()> passed;
  };
  /// Starts a deadline, which passes at `at` or up to 25 ms later.
  void watch(deadline& which, time_point at);

 private:
  void tick();

  boost::asio::steady_timer timer_;
  bool ticking_ = false;
};

}  // namespace troupe::openenv

#pragma once
// A thread that waits for the descriptors and timers of many users. It has a header of its own so
// that Asio stays out of the headers that users include. Internal to the project.

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <thread>

namespace troupe::detail {

class io_thread {
 public:
  /// Starts the thread. `name` is that of quiet_thread().
  explicit io_thread(const char* name);
  ~io_thread();
  io_thread(const io_thread&) = delete;

  boost::asio::io_context& context() noexcept { return context_; }

 protected:
  /// Ends the thread once its handlers have no more work, or after two seconds. A class that adds
  /// members which handlers use calls it first in its destructor.
  void stop();

 private:
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
};

}  // namespace troupe::detail

#include "runtime/net/io_thread.hpp"

#include <boost/asio/post.hpp>
#include <chrono>
#include <exception>

#include "runtime/base/log.hpp"
#include "runtime/base/quiet_thread.hpp"

namespace troupe::detail {

namespace {
constexpr auto last_work_within = std::chrono::seconds(2);
}  // namespace

io_thread::io_thread(const char* name) : work_(context_.get_executor()) {
  const auto run = [this] {
    for (bool runs = true; runs;) {
      try {
        context_.run();  // until stop()
        runs = false;
      } catch (const std::exception& e) {
        // One handler's failure, such as a lack of memory, is not that of the others.
        log::error("a handler of an I/O thread has failed", {{"error", e.what()}});
      }
    }
    context_.restart();
    context_.run_for(last_work_within);
  };
  thread_ = quiet_thread(run, name);
}

io_thread::~io_thread() { stop(); }

void io_thread::stop() {
  if (!thread_.joinable()) return;
  boost::asio::post(context_, [this] {
    work_.reset();
    context_.stop();
  });
  thread_.join();
}

}  // namespace troupe::detail

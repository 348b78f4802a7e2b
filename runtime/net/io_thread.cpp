#include "runtime/net/io_thread.hpp"

#include <boost/asio/post.hpp>
#include <chrono>

#include "runtime/base/quiet_thread.hpp"

namespace troupe::detail {

namespace {
constexpr auto last_work_within = std::chrono::seconds(2);
}  // namespace

io_thread::io_thread(const char* name) : work_(context_.get_executor()) {
  const auto run = [this] {
    context_.run();  // until stop()
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

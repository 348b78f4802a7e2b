#include "runtime/net/io_thread.hpp"

#include <boost/asio/post.hpp>
#include <utility>

#include "runtime/base/quiet_thread.hpp"

namespace troupe::detail {

namespace {
constexpr auto tick_every = std::chrono::milliseconds(20);
constexpr auto goodbyes_within = std::chrono::seconds(2);
}  // namespace

io_thread::io_thread(const char* name) : work_(context_.get_executor()), timer_(context_) {
  const auto run = [this] {
    context_.run();  // until the destructor stops it
    context_.restart();
    context_.run_for(goodbyes_within);
  };
  thread_ = quiet_thread(run, name);
}

io_thread::~io_thread() {
  boost::asio::post(context_, [this] {
    work_.reset();
    context_.stop();
  });
  thread_.join();
}

void io_thread::watch(deadline& which, time_point at) {
  wheel_.enter(which, at, std::chrono::steady_clock::now());
  if (!std::exchange(ticking_, true)) tick();
}

void io_thread::tick() {
  timer_.expires_after(tick_every);
  timer_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    wheel_.expire(std::chrono::steady_clock::now(),
                  [](timing_wheel::entry& due) { static_cast<deadline&>(due).passed(); });
    ticking_ = !wheel_.empty();
    if (ticking_) tick();
  });
}

}  // namespace troupe::detail

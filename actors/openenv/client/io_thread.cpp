#include "actors/openenv/client/io_thread.hpp"

#include <mutex>
#include <utility>

namespace troupe::openenv {

namespace {
constexpr auto tick_every = std::chrono::milliseconds(20);
}  // namespace

std::shared_ptr<io_thread> io_thread::of_this_process() {
  static std::mutex mutex;
  static std::weak_ptr<io_thread> running;
  std::lock_guard lock(mutex);
  auto found = running.lock();
  if (!found) running = found = std::make_shared<io_thread>();
  return found;
}

io_thread::io_thread() : troupe::detail::io_thread("troupe-openenv"), timer_(context()) {}

io_thread::~io_thread() { stop(); }

void io_thread::watch(deadline& which, time_point at) {
  wheel.enter(which, at, std::chrono::steady_clock::now());
  if (!std::exchange(ticking_, true)) tick();
}

void io_thread::tick() {
  timer_.expires_after(tick_every);
  timer_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    wheel.expire(std::chrono::steady_clock::now(), [](troupe::detail::timing_wheel::entry& due) {
      static_cast<deadline&>(due).passed();
    });
    ticking_ = !wheel.empty();
    if (ticking_) tick();
  });
}

}  // namespace troupe::openenv

#include "runtime/net/event_loop.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>

#include "runtime/base/quiet_thread.hpp"

namespace troupe::detail {

namespace {

constexpr event_loop::key wake_key = ~event_loop::key{0};

// A key holds the number of the descriptor and a count of all descriptors watched before it,
// because the kernel reuses numbers.
int number_of(event_loop::key watched) { return static_cast<int>(watched & 0xffffffff); }

}  // namespace

event_loop::event_loop(const char* name)
    : epoll_(epoll_create1(EPOLL_CLOEXEC), "make an epoll instance"),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "make an eventfd") {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = wake_key}};
  if (epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, wake_.number(), &event) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot watch an eventfd");
  }
  thread_ = quiet_thread([this] { run(); }, name);
}

event_loop::~event_loop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake();
  thread_.join();
}

void event_loop::post(std::function<void()> action) {
  bool first;
  {
    std::lock_guard lock(mutex_);
    first = posted_.empty();
    posted_.push_back(std::move(action));
  }
  if (first) wake();
}

void event_loop::post_after(std::chrono::milliseconds delay, std::function<void()> action) {
  {
    std::lock_guard lock(mutex_);
    timed_.emplace(clock::now() + delay, std::move(action));
  }
  wake();
}

void event_loop::wake() {
  const std::uint64_t one = 1;
  while (::write(wake_.number(), &one, sizeof one) < 0 && errno == EINTR) {
  }
}

event_loop::key event_loop::watch(int number, std::uint32_t events, std::shared_ptr<handler> who) {
  const key made = key{watched_so_far_++} << 32 | static_cast<std::uint32_t>(number);
  epoll_event event{.events = events, .data = {.u64 = made}};
  if (epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, number, &event) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot watch a descriptor");
  }
  handlers_.emplace(made, std::move(who));
  return made;
}

void event_loop::change(key watched, std::uint32_t events) {
  epoll_event event{.events = events, .data = {.u64 = watched}};
  epoll_ctl(epoll_.number(), EPOLL_CTL_MOD, number_of(watched), &event);
}

void event_loop::forget(key watched) {
  if (handlers_.erase(watched) > 0) {
    epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, number_of(watched), nullptr);
  }
}

int event_loop::wait_ms() {
  std::lock_guard lock(mutex_);
  if (!posted_.empty() || stopping_) return 0;
  if (timed_.empty()) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(timed_.begin()->first - clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

void event_loop::run_posted() {
  std::vector<std::function<void()>> now;
  {
    std::lock_guard lock(mutex_);
    now.swap(posted_);
    const auto due = timed_.upper_bound(clock::now());
    for (auto at = timed_.begin(); at != due; ++at) now.push_back(std::move(at->second));
    timed_.erase(timed_.begin(), due);
  }
  for (const auto& action : now) action();
}

void event_loop::run() {
  std::array<epoll_event, 64> events;
  for (;;) {
    const int count = epoll_wait(epoll_.number(), events.data(), events.size(), wait_ms());
    for (int i = 0; i < count; ++i) {
      // This is a copy, because the struct is packed.
      const auto [of, data] = events[static_cast<std::size_t>(i)];
      const key watched = data.u64;
      if (watched == wake_key) {
        std::uint64_t times;
        [[maybe_unused]] const auto got = ::read(wake_.number(), &times, sizeof times);
      } else if (const auto found = handlers_.find(watched); found != handlers_.end()) {
        const auto who = found->second;  // The handler may forget itself.
        who->ready(of);
      }
    }
    run_posted();
    std::lock_guard lock(mutex_);
    if (stopping_ && posted_.empty()) break;
  }
  handlers_.clear();
}

event_loop& io_loop() {
  static event_loop loop("troupe-links");
  return loop;
}

}  // namespace troupe::detail

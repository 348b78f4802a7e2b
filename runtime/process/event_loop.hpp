#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "runtime/base/descriptor.hpp"

namespace troupe::detail {

/// A thread that waits for descriptors (epoll, level-triggered) and does what is posted to it. All
/// signals are blocked on it.
class event_loop {
 public:
  class handler {
   public:
    virtual ~handler() = default;
    /// EPOLLIN, EPOLLOUT, EPOLLHUP, EPOLLERR. On the loop's thread.
    virtual void ready(std::uint32_t events) = 0;
  };
  /// A descriptor that is watched.
  using key = std::uint64_t;

  /// `name` is the thread's, at most 15 bytes.
  explicit event_loop(const char* name);
  /// Does what was posted, forgets the rest. Not on its own thread.
  ~event_loop();
  event_loop(const event_loop&) = delete;

  /// Any thread.
  void post(std::function<void()> action);
  void post_after(std::chrono::milliseconds delay, std::function<void()> action);
  void change(key watched, std::uint32_t events);
  bool is_this_thread() const { return std::this_thread::get_id() == thread_.get_id(); }

  /// On the loop's thread alone. A descriptor is forgotten before it is closed.
  key watch(int number, std::uint32_t events, std::shared_ptr<handler> who);
  void forget(key watched);

 private:
  using clock = std::chrono::steady_clock;

  void run();
  void run_posted();
  int wait_ms();
  void wake();

  descriptor epoll_;
  descriptor wake_;  // eventfd
  std::unordered_map<key, std::shared_ptr<handler>> handlers_;
  std::uint32_t watched_so_far_ = 1;  // so that no key is 0
  std::mutex mutex_;
  bool stopping_ = false;
  std::vector<std::function<void()>> posted_;
  std::multimap<clock::time_point, std::function<void()>> timed_;
  std::thread thread_;
};

/// The one whose thread reads and writes for every link of this process.
event_loop& io_loop();

}  // namespace troupe::detail

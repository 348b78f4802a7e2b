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

/// A thread that waits for descriptors (epoll, level-triggered) and runs actions that are posted to
/// it. All signals are blocked on it.
class event_loop {
 public:
  class handler {
   public:
    virtual ~handler() = default;
    /// Called on the loop's thread with EPOLLIN, EPOLLOUT, EPOLLHUP or EPOLLERR.
    virtual void ready(std::uint32_t events) = 0;
  };
  /// Identifies a descriptor that is watched.
  using key = std::uint64_t;

  /// `name` is the thread's name, at most 15 bytes.
  explicit event_loop(const char* name);
  /// Runs the posted actions and drops the timed ones. Must not run on the loop's own thread.
  ~event_loop();
  event_loop(const event_loop&) = delete;

  /// These may be called on any thread.
  void post(std::function<void()> action);
  void post_after(std::chrono::milliseconds delay, std::function<void()> action);
  void change(key watched, std::uint32_t events);
  bool is_this_thread() const { return std::this_thread::get_id() == thread_.get_id(); }

  /// These are for the loop's thread only. Forget a descriptor before it is closed.
  key watch(int number, std::uint32_t events, std::shared_ptr<handler> who);
  void forget(key watched);

 private:
  using clock = std::chrono::steady_clock;

  void run();
  void run_posted();
  int wait_ms();
  void wake();

  descriptor epoll_;
  descriptor wake_;  // An eventfd.
  std::unordered_map<key, std::shared_ptr<handler>> handlers_;
  std::uint32_t watched_so_far_ = 1;  // Starts at 1, so that no key is 0.
  std::mutex mutex_;
  bool stopping_ = false;
  std::vector<std::function<void()>> posted_;
  std::multimap<clock::time_point, std::function<void()>> timed_;
  std::thread thread_;
};

/// Returns the loop whose thread reads and writes for every link of this process.
event_loop& io_loop();

}  // namespace troupe::detail

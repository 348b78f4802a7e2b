#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace troupe::detail {

/// A thread that calls an action again and again.
class ticker {
 public:
  using clock = std::chrono::steady_clock;

  ticker() = default;
  ~ticker() { stop(); }
  ticker(const ticker&) = delete;
  ticker& operator=(const ticker&) = delete;

  /// Starts the thread, once. `action` gets the time and returns when it must be called next at the
  /// latest.
  void start(std::function<clock::time_point(clock::time_point now)> action);
  /// Ends the thread for good and waits for an action under way. The action must not call it.
  void stop();
  /// Calls the action soon.
  void hurry();

 private:
  void run();

  std::function<clock::time_point(clock::time_point)> action_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool hurried_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace troupe::detail

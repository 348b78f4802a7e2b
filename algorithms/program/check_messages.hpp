#pragma once
// Messages about the checks of an environment that take long, so that a slow environment is told
// apart from a check that is stuck.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "actors/environments/environment_report.hpp"

namespace troupe::command {

/// Says in the log what the checks do: after 5 seconds, and then at intervals that grow to a
/// minute, until it is destroyed.
class check_messages {
 public:
  /// `first_wait` is the time until the first message, for tests.
  explicit check_messages(std::string env, std::chrono::milliseconds first_wait = default_wait);
  check_messages(const check_messages&) = delete;

  /// Takes the call that begins. The first one starts the thread that writes the messages, because
  /// the checks of environments in C++ fork before it (check_world.hpp).
  void begins(const environment_call& call);
  /// Ends the messages, and waits for the thread.
  void end();
  /// Blocks until another message has been written, for tests.
  void wait_for_message();

 private:
  static constexpr std::chrono::milliseconds default_wait{5000}, longest_wait{60'000};

  void tell(const std::stop_token& ends);

  const std::string env_;
  const std::chrono::milliseconds first_wait_;
  std::mutex mutex_;  // of what follows
  std::condition_variable_any changed_;
  environment_call call_;
  std::int64_t calls_ = 0, told_ = 0;
  std::jthread thread_;  // the last member, so that it ends first
};

}  // namespace troupe::command

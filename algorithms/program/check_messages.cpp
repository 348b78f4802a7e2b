#include "algorithms/program/check_messages.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/log.hpp"

namespace troupe::command {

check_messages::check_messages(std::string env, std::chrono::milliseconds first_wait)
    : env_(std::move(env)), first_wait_(first_wait) {}

void check_messages::begins(const environment_call& call) {
  const std::lock_guard lock(mutex_);
  call_ = call;
  ++calls_;
  if (!thread_.joinable())
    thread_ = std::jthread([this](const std::stop_token& ends) { tell(ends); });
}

void check_messages::end() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void check_messages::wait_for_message() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this, before = told_] { return told_ > before; });
}

void check_messages::tell(const std::stop_token& ends) {
  using std::chrono::duration;
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  for (auto wait = first_wait_;; wait = std::min(2 * wait, longest_wait)) {
    changed_.wait_for(lock, ends, wait, [] { return false; });  // the end wakes it
    if (ends.stop_requested()) return;
    const auto call = call_.at.empty() ? call_.where : call_.where + " (" + call_.at + ")";
    const duration<double> waited = std::chrono::steady_clock::now() - begin;
    log::info("the environment is being checked",
              {{"environment", env_},
               {"call", call},
               {"calls", calls_},
               {"seconds", std::chrono::round<std::chrono::seconds>(waited).count()}});
    ++told_;
    changed_.notify_all();
  }
}

}  // namespace troupe::command

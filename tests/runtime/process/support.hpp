#pragma once
// A listener whose events a test waits for, and what children of a test's executable do.

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>

#include "runtime/process/child.hpp"

namespace troupe::detail {

inline constexpr std::chrono::seconds deadline{20};

inline block block_of(std::string_view text) {
  block made(text.size());
  std::memcpy(made.data(), text.data(), text.size());
  return made;
}

inline std::string text_of(const block& from) {
  return {reinterpret_cast<const char*>(from.data()), from.size()};
}

struct link_closed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Keeps what it hears until it is asked for.
class hearer final : public link_listener {
 public:
  void received(block message) override {
    note([&] { messages_.push_back(std::move(message)); });
  }
  void writable() override {
    note([&] { ++writable_; });
  }
  void closed(const std::string& why) override {
    note([&] { why_ = why; });
  }

  /// Throws link_closed when the link has closed with none left.
  block next() {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return !messages_.empty() || !why_.empty(); });
    if (messages_.empty()) throw link_closed(why_);
    block message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }
  std::string next_text() { return text_of(next()); }
  void wait_writable(int times) {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return writable_ >= times; });
  }
  int times_writable() {
    std::lock_guard lock(mutex_);
    return writable_;
  }
  /// Why the link has closed.
  std::string wait_closed() {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return !why_.empty(); });
    return why_;
  }

 private:
  template <class F>
  void note(F what) {
    std::lock_guard lock(mutex_);
    what();
    changed_.notify_all();
  }
  template <class F>
  void wait(std::unique_lock<std::mutex>& lock, F until) {
    if (!changed_.wait_for(lock, deadline, until)) throw std::runtime_error("deadline");
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<block> messages_;
  int writable_ = 0;
  std::string why_;
};

/// A child of this executable that plays the part of that name.
class player {
 public:
  explicit player(const std::string& part, child_options options = {})
      : heard(std::make_shared<hearer>()),
        ended_(std::make_shared<std::promise<child_end>>()),
        process(with(part, std::move(options)),
                [ended = ended_](const child_end& end) { ended->set_value(end); }) {
    process.way()->open(heard);
  }

  void send(std::string_view text, priority urgency = priority::normal) {
    process.way()->send(block_of(text), urgency);
  }
  child_end wait_end() {
    auto end = ended_->get_future();
    if (end.wait_for(deadline) != std::future_status::ready) throw std::runtime_error("deadline");
    return end.get();
  }

  const std::shared_ptr<hearer> heard;

 private:
  static child_options with(const std::string& part, child_options options) {
    options.arguments = {part};
    return options;
  }
  const std::shared_ptr<std::promise<child_end>> ended_;

 public:
  child process;
};

/// What a child does; it ends with what this returns.
using part = std::function<int(const std::shared_ptr<link>& parent)>;

/// The parts that a child of this executable can play, by argv[1].
std::map<std::string, part> parts();

}  // namespace troupe::detail

#pragma once

#include <coroutine>
#include <memory>

#include "runtime/coroutine/strand.hpp"

namespace troupe {

namespace detail {

/// The awaiter of next_turn.
class [[nodiscard("co_await it: otherwise no turn is given")]] next_turn_awaiter {
 public:
  next_turn_awaiter() = default;
  next_turn_awaiter(const next_turn_awaiter&) = delete;
  ~next_turn_awaiter() {
    if (place_) place_->waiting = nullptr;
  }

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h);
  void await_resume() const noexcept {}

 private:
  /// Outlives the coroutine where that is cancelled before its turn.
  struct place {
    strand* home;
    waiter* waiting;
  };

  std::shared_ptr<place> place_;
  sleeper waiter_;
};

}  // namespace detail

/// Lets the actor do what has come to it meanwhile before this coroutine goes on: for computing
/// that takes long, in parts. What is in the mailbox comes first. In virtual time a microsecond
/// passes: otherwise a loop of turns would keep everybody who waits for a time waiting.
inline detail::next_turn_awaiter next_turn() { return {}; }

}  // namespace troupe

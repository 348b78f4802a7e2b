#pragma once
// `next_turn` lets a coroutine that computes for long give its actor a chance to handle other
// messages.

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
  /// Shared with the posted action. It outlives a coroutine that is cancelled before its turn.
  struct place {
    strand* home;
    waiter* waiting;
  };

  std::shared_ptr<place> place_;
  sleeper waiter_;
};

}  // namespace detail

/// Suspends the running coroutine until its actor has handled everything that is in its mailbox.
/// Long computations await it between their parts. In virtual time a microsecond passes; otherwise
/// a loop of turns would never let the time advance for those that sleep.
inline detail::next_turn_awaiter next_turn() { return {}; }

}  // namespace troupe

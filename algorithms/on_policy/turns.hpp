#pragma once
// Orders the work of the groups of a rollout. episode.cpp uses it.

#include <cstddef>

#include "runtime/coroutine/condition.hpp"

namespace troupe {

/// Lets the coroutines of one actor take turns in the order of their indices. The work inside of
/// turns happens in an order that does not depend on timing; the work between turns overlaps.
///
///   while (!turn.is_of(index)) co_await turn.passed();
class turns {
 public:
  explicit turns(std::size_t count) : count_(count) {}

  bool is_of(std::size_t index) const noexcept { return now_ == index; }
  condition::waiting passed() { return passed_.wait(); }
  /// Ends the turn; the next index has its turn.
  void pass() {
    now_ = (now_ + 1) % count_;
    passed_.notify_all();
  }

 private:
  std::size_t count_;
  std::size_t now_ = 0;
  condition passed_;
};

}  // namespace troupe

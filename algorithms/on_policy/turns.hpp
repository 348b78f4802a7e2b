#pragma once
// Orders the work of the groups of a rollout. episode.cpp uses it.

#include <cstddef>
#include <vector>

#include "runtime/coroutine/condition.hpp"

namespace troupe {

/// Lets the coroutines of one actor take turns in the order of their indices. The work inside of
/// turns happens in an order that does not depend on timing; the work between turns overlaps.
///
///   while (!turn.is_of(index)) co_await turn.passed();
class turns {
 public:
  explicit turns(std::size_t count) : left_(count) {}

  bool is_of(std::size_t index) const noexcept { return now_ == index; }
  condition::waiting passed() { return passed_.wait(); }
  /// Ends the turn; the next index that has not left has its turn.
  void pass() {
    const auto before = now_;
    do now_ = (now_ + 1) % left_.size();
    while (left_[now_] && now_ != before);
    passed_.notify_all();
  }
  /// Ends the last turn of an index; the others go on without it.
  void leave() {
    left_[now_] = true;
    pass();
  }

 private:
  std::vector<bool> left_;
  std::size_t now_ = 0;
  condition passed_;
};

}  // namespace troupe

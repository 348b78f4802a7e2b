#pragma once

#include <cstddef>

#include "runtime/coroutine/condition.hpp"

namespace troupe {

/// Coroutines of one actor that take turns, in the order of their indices: what they do in them
/// happens in an order that no timing changes, and what they do between them overlaps.
///
///   while (!turn.is_of(index)) co_await turn.passed();
class turns {
 public:
  explicit turns(std::size_t count) : count_(count) {}

  bool is_of(std::size_t index) const noexcept { return now_ == index; }
  condition::waiting passed() { return passed_.wait(); }
  /// The next one's.
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

#pragma once
// Whose turn is next in a deterministic system. Internal to runtime/.

#include <caf/resumable.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "runtime/actor/draws.hpp"

namespace troupe::detail {

/// An actor that has something to do has its turn after a drawn delay. The delay begins with the
/// turn in which it got something to do, and the actor draws it from numbers of its own. So actors
/// that have nothing to do with each other don't change each other's order, and one more actor or
/// message leaves the order of all others as it is.
///
/// Delays are about exponential: of all actors that wait, each is as likely as any to be next. They
/// are not times, and no clock shows them.
class turn_order {
 public:
  explicit turn_order(std::uint64_t seed) : others_(seed, "what is no host") {}

  /// It has something to do, since the last turn that was taken.
  void add(caf::resumable* job);
  /// Adds and removes all of them.
  void add_all(std::deque<caf::resumable*>& jobs);
  /// Takes the next for which `can` is true; null if there is none.
  caf::resumable* take(const std::function<bool(caf::resumable*)>& can);
  /// Hands back those that are left.
  void remove_all(std::deque<caf::resumable*>& to);

 private:
  struct turn {
    std::uint64_t due;
    std::uint64_t number;  ///< Of those that are due at once, the first that was added is first.
    caf::resumable* job;
    bool operator<(const turn& other) const noexcept {  // The heap's top is the next.
      return due != other.due ? due > other.due : number > other.number;
    }
  };

  void push(const turn& t);
  turn pop();

  std::vector<turn> waiting_;  ///< A heap.
  std::vector<turn> skipped_;
  std::uint64_t now_ = 0;  ///< When the last turn that was taken was due.
  std::uint64_t added_ = 0;
  draws others_;
};

/// A delay out of a random number; about exponential with a mean of one and a half times 2^24.
std::uint64_t delay_of(std::uint64_t random) noexcept;

}  // namespace troupe::detail

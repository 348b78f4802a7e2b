#pragma once
// Decides which actor has the next turn in a deterministic system. Internal to runtime/.

#include <caf/resumable.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "runtime/actor/draws.hpp"

namespace troupe::detail {

/// Orders the actors that have something to do. Each actor has its turn after a random delay. The
/// delay begins with the turn in which the actor got something to do, and comes from the actor's
/// own stream of random numbers. So actors that have nothing to do with each other don't change
/// each other's order, and one more actor or message leaves the order of all others unchanged.
///
/// Delays are approximately exponential, so that every waiting actor is equally likely to be next.
/// They are not times, and no clock shows them.
class turn_order {
 public:
  explicit turn_order(std::uint64_t seed) : others_(seed, "what is no host") {}

  /// Adds a job that has had something to do since the last turn that was taken.
  void add(caf::resumable* job);
  /// Adds all jobs, and clears `jobs`.
  void add_all(std::deque<caf::resumable*>& jobs);
  /// Takes the next job for which `can` is true; returns null if there is none.
  caf::resumable* take(const std::function<bool(caf::resumable*)>& can);
  /// Moves the jobs that are left to `to`.
  void remove_all(std::deque<caf::resumable*>& to);

 private:
  struct turn {
    std::uint64_t due;
    std::uint64_t number;  ///< Breaks ties: turns that are due at once are taken in the order in
                           ///< which they were added.
    caf::resumable* job;
    bool operator<(const turn& other) const noexcept {  // The top of the heap is the next turn.
      return due != other.due ? due > other.due : number > other.number;
    }
  };

  void push(const turn& t);
  turn pop();

  std::vector<turn> waiting_;  ///< The turns, as a heap.
  std::vector<turn> skipped_;
  std::uint64_t now_ =
      0;  ///< The moment, on the scale of the delays, at which the last taken turn was due.
  std::uint64_t added_ = 0;
  draws others_;
};

/// Maps a random number to a delay. Delays are approximately exponential, with a mean of 1.5 *
/// 2^24.
std::uint64_t delay_of(std::uint64_t random) noexcept;

}  // namespace troupe::detail

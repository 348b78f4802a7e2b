#pragma once
// The interface of every replay, the store of experience between the episode functions and the
// trainer. An item is the result of one episode function: a whole episode, or a few steps of some
// environments. It goes through these states:
//
//   admit ──> (it is made) ──> insert ──> sample ──> (an update) ──> trained
//
// There are two replays:
//
//   replay_queue<Item>   each item is trained on once, first in first out (on-policy, GRPO)
//   transition_replay    items become rows of a ring, from which minibatches are drawn (off-policy)

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "runtime/coroutine/task.hpp"

namespace troupe {

/// The counts of a replay since its beginning. A version counts the updates of the weights. The
/// staleness of an item is the version of the weights that it trains minus the version of the
/// weights that made it.
struct replay_counts {
  std::int64_t inserted = 0;  ///< The number of inserted items, without repeated ones.
  /// The number of items that updates were made for, without the warm-up.
  std::int64_t sampled = 0;
  /// The number of items dropped because they were older than max_staleness.
  std::int64_t stale = 0;
  /// The sum of the lengths of the stale items, if Item has a `length()`.
  double stale_length = 0;
  std::int64_t repeated = 0;  ///< The number of items dropped because they were inserted before.
  std::int64_t staleness_max = 0;
  double staleness_sum = 0;  ///< The sum of the staleness of sampled items.
  std::size_t held = 0;      ///< The number of items in a queue, or of rows in a ring.
  std::size_t bytes = 0;     ///< The size of the held items or rows in bytes.

  double staleness_mean() const {
    return sampled == 0 ? 0 : staleness_sum / static_cast<double>(sampled);
  }
  double stale_length_mean() const {
    return stale == 0 ? 0 : stale_length / static_cast<double>(stale);
  }
};

/// Thrown if a sample did not become available in time. The message says what was waited for and
/// why it is missing.
class replay_starved : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The endpoints of every replay. T::item_type has a member `version`, the version of the oldest
/// weights that made any part of the item.
///
///   admit     waits until another item may begin that will be within max_staleness when it is
///             trained on; returns false once the replay is closed
///   close     stops admitting items; items that have begun may still be inserted
///   insert    adds an item; one with a producer's item_id is added once, however often it comes
///   sample    waits for the items that the next update is for, and returns them; throws
///             replay_starved
///   trained   says that this update is done: weights of this version are in use
///   version   returns the version of the last call of `trained`
///   counts    returns the replay_counts
///   save      returns the whole state, for a checkpoint
///   restore   restores a state of `save`
template <class T>
concept replay = requires(T& to, const T& of, typename T::item_type item, std::int64_t version) {
  { item.version } -> std::convertible_to<std::int64_t>;
  { to.admit() } -> std::same_as<task<bool>>;
  to.close();
  to.insert(item);
  { to.sample() } -> std::same_as<task<std::vector<typename T::item_type>>>;
  to.trained(version);
  { of.version() } -> std::same_as<std::int64_t>;
  { of.counts() } -> std::same_as<replay_counts>;
  to.restore(of.save());
};

/// A replay that draws some rows more often than others, according to the errors that updates have
/// found for them. A replay_queue is none, because each of its items is trained on once.
template <class T>
concept prioritised_replay =
    replay<T> && requires(T& to, std::vector<std::int64_t> numbers, std::vector<float> td_errors) {
      to.update_priorities(numbers, td_errors);
    };

}  // namespace troupe

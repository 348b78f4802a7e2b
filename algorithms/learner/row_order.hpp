#pragma once
// The shuffled order of a batch's rows, which on-policy learners use for minibatches. It works with
// one rank or several.

#include <cstdint>
#include <span>
#include <vector>

#include "actors/random/action_random.hpp"
#include "algorithms/learner/data_parallel.hpp"

namespace troupe::detail {

using row_index = std::uint32_t;

/// Shuffles `index`; all orders are equally likely (Fisher and Yates).
void shuffle(std::span<row_index> index, action_random& random);

/// The order in which an epoch takes the rows of a batch. It begins with rank 0's rows, then rank
/// 1's, and so on, until it is shuffled. Each rank holds the order of all ranks' rows, so that each
/// knows which rows of a minibatch are its own.
class row_order {
 public:
  /// `own` are the rows of this rank. All ranks construct their row_order together.
  row_order(std::vector<row_index> own, const rank_group& ranks);

  /// Shuffles the order. It is the same on all ranks if their generators are in the same state.
  void shuffle(action_random& random) { detail::shuffle(order_, random); }

  /// The number of rows of all ranks.
  std::size_t size() const { return order_.size(); }
  /// This rank's rows, in the order in which they were given.
  std::span<const row_index> own() const { return own_; }
  /// This rank's rows among the `count` rows from position `from` on; possibly none. Valid until
  /// the next call.
  std::span<const row_index> own(std::size_t from, std::size_t count);

 private:
  std::vector<row_index> own_;
  std::vector<row_index> order_;  // a row of another rank is `blank`
  std::vector<row_index> selected_;
};

}  // namespace troupe::detail

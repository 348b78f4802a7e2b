#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "actors/random/action_random.hpp"
#include "algorithms/learner/data_parallel.hpp"

namespace troupe::detail {

using row_index = std::uint32_t;

/// A new random order, all equally likely (Fisher and Yates).
void shuffle(std::span<row_index> index, action_random& random);

/// The order in which an epoch takes the rows of a batch: at first rank 0's rows, then rank 1's...
/// The order is of all ranks' rows, and each rank draws it for itself, so that each knows which
/// rows of a minibatch are its own.
class row_order {
 public:
  /// `own`: the rows that this rank has. All ranks make theirs together.
  row_order(std::vector<row_index> own, const rank_group& ranks);

  /// A new random order: the same on all ranks, if their generators are in the same state.
  void shuffle(action_random& random) { detail::shuffle(order_, random); }

  /// Rows of all ranks.
  std::size_t size() const { return order_.size(); }
  /// This rank's rows, in the order in which they were given.
  std::span<const row_index> own() const { return own_; }
  /// This rank's rows among the `count` rows from `from` on. There may be none. Valid until the
  /// next call.
  std::span<const row_index> own(std::size_t from, std::size_t count);

 private:
  std::vector<row_index> own_;
  std::vector<row_index> order_;  // blank: another rank's row
  std::vector<row_index> selected_;
};

}  // namespace troupe::detail

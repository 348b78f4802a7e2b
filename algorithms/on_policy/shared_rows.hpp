#pragma once
// What makes the step of several ranks, each with a shard of a rollout's rows, that of one rank
// with all of them: the minibatches are drawn from all ranks' rows, in one order that each rank
// draws for itself, and what a minibatch's loss needs of the others' rows is exchanged.

#include <memory>
#include <span>
#include <vector>

#include "actors/collective/collective.hpp"
#include "algorithms/losses/ppo_loss_rows.hpp"
#include "algorithms/on_policy/training_rows.hpp"

namespace troupe::detail {

/// The rows of all ranks in one order: at first rank 0's, then rank 1's...
class shared_rows {
 public:
  /// `own`: the rows that this rank has. All ranks make theirs together.
  shared_rows(std::vector<row_index> own, collective& ranks);

  /// A new random order, all equally likely: the same on all ranks, if their generators are in the
  /// same state.
  void shuffle(action_random& random) { detail::shuffle(order_, random); }

  /// Rows of all ranks.
  std::size_t size() const { return order_.size(); }
  /// This rank's.
  std::span<const row_index> own() const { return own_; }
  /// This rank's of the `count` from `from` on, of which there may be none: until the next call.
  std::span<const row_index> own(std::size_t from, std::size_t count);

 private:
  std::vector<row_index> own_;
  std::vector<row_index> order_;  // blank: another rank's
  std::vector<row_index> selected_;
};

/// Of each minibatch of `batch_size` rows how its advantages are normalised, by the statistics of
/// all ranks' rows.
std::vector<advantage_scale> advantage_scales(shared_rows& rows, std::size_t batch_size,
                                              const at::Tensor& advantage, collective& ranks);

}  // namespace troupe::detail

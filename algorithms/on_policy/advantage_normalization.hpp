#pragma once
// Normalises the advantages of a minibatch to mean 0 and standard deviation 1, as Stable-Baselines3
// does: (A - mean) / (deviation + 1e-8), with the unbiased deviation (N - 1 in its denominator).
// The statistics are those of the minibatch's rows that train the policy, on all ranks.

#include <span>
#include <vector>

#include "algorithms/learner/row_order.hpp"
#include "algorithms/on_policy/training_rows.hpp"

namespace troupe::detail {

/// The mean and scale of a minibatch: a normalised advantage is scale * (advantage - mean).
struct advantage_scale {
  float mean = 0.0f;
  float scale = 1.0f;
};

/// The mean and scale of these advantages. Fewer than two advantages are not changed by it.
advantage_scale scale_of(std::span<const float> advantage);
/// Advantages [N] normalised by their own statistics. A single advantage is not changed.
at::Tensor normalized(const at::Tensor& advantage);

/// Normalises the advantages of a learner's minibatches.
class advantage_normalization {
 public:
  /// If `wanted` is false, advantages are not changed. With `fused`, statistics are sums of
  /// doubles; otherwise libtorch computes them, with the same numbers as a training loop written in
  /// it.
  advantage_normalization(bool wanted, bool fused) : wanted_(wanted), fused_(fused) {}

  /// Call it before an epoch of minibatches of `batch_size` rows in this order. `advantage` is
  /// [T, B]. If there are several ranks, it computes the statistics of all minibatches of the
  /// epoch.
  void begin_epoch(row_order& order, std::size_t batch_size, const at::Tensor& advantage,
                   const rank_group& ranks);
  /// Normalises the advantages of the epoch's minibatch `index`.
  void apply(minibatch& to, std::size_t index) const;

 private:
  bool wanted_;
  bool fused_;
  std::vector<advantage_scale> of_ranks_;  // for each minibatch; empty if there is one rank
};

}  // namespace troupe::detail

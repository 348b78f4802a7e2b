#pragma once
// Advantages of a minibatch are brought to mean 0 and standard deviation 1, as Stable-Baselines3
// does: (A - mean) / (deviation + 1e-8), with the unbiased deviation (N - 1 in its denominator).
// The statistics are those of the minibatch's rows, of all ranks where there are several.

#include <span>
#include <vector>

#include "algorithms/learner/row_order.hpp"
#include "algorithms/on_policy/training_rows.hpp"

namespace troupe::detail {

/// A normalised advantage is scale * (advantage - mean).
struct advantage_scale {
  float mean = 0.0f;
  float scale = 1.0f;
};

/// By the statistics of these advantages; fewer than two stay as they are.
advantage_scale scale_of(std::span<const float> advantage);
/// Advantages [N] normalised by their own statistics; a single one stays as it is.
at::Tensor normalized(const at::Tensor& advantage);

/// What a learner does to the advantages of its minibatches.
class advantage_normalization {
 public:
  /// `wanted`: false changes nothing. `fused`: statistics are sums of doubles; else they are
  /// libtorch's, as in a training written in it.
  advantage_normalization(bool wanted, bool fused) : wanted_(wanted), fused_(fused) {}

  /// Before an epoch of minibatches of `batch_size` rows in this order. `advantage`: [T, B].
  /// Several ranks sum the statistics of all the epoch's minibatches at once.
  void begin_epoch(row_order& order, std::size_t batch_size, const at::Tensor& advantage,
                   const rank_group& ranks);
  /// Normalises the advantages of the epoch's minibatch `index`.
  void apply(minibatch& to, std::size_t index) const;

 private:
  bool wanted_;
  bool fused_;
  std::vector<advantage_scale> of_ranks_;  // of each minibatch; empty: this rank is alone
};

}  // namespace troupe::detail

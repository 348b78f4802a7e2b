#pragma once
// Running statistics of returns, by which a critic's targets are normalised.

#include <span>

#include "algorithms/learner/data_parallel.hpp"
#include "algorithms/learner/learner_state.hpp"
#include "algorithms/learner/row_order.hpp"

namespace troupe::detail {

/// The statistics with which MAPPO normalises the targets of its critic (Yu et al. 2022,
/// https://arxiv.org/abs/2103.01955, section 5.1): exponential means of returns and of their
/// squares, each update having the same weight at first. Without an update the mean is 0 and the
/// deviation 1.
class value_normalizer {
 public:
  /// `decay`: each update multiplies the weight of the earlier ones by it.
  explicit value_normalizer(double decay = 0.99) : decay_(decay) {}

  /// Adds the returns of one update with these indices, and those of all other ranks.
  void update(const float* returns, std::span<const row_index> index, const rank_group& ranks = {});

  double mean() const { return weight_ > 0 ? mean_ / weight_ : 0.0; }
  double deviation() const;

  void visit_state(state_visitor& visit);

 private:
  double decay_;
  // The sums from which mean and deviation follow; the last is that of the updates' weights.
  double mean_ = 0, square_ = 0, weight_ = 0;
};

}  // namespace troupe::detail

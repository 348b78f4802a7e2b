#pragma once
// Data-parallel training: several ranks train one set of weights. Each rank has some rows of every
// batch, and their common update is, up to rounding, that of one learner with the whole batch.

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "actors/collective/collective.hpp"

namespace troupe {

/// The sums and means over ranks that make a learner's update that of the whole batch. A
/// default-constructed group is a learner alone: it has all rows, and calls change nothing. All
/// ranks make the same calls in the same order. Members throw collective_error.
class rank_group {
 public:
  rank_group() = default;
  explicit rank_group(std::shared_ptr<collective> ranks) : ranks_(std::move(ranks)) {}

  bool is_alone() const { return !ranks_; }
  std::size_t rank() const { return ranks_ ? ranks_->rank() : 0; }
  std::size_t world() const { return ranks_ ? ranks_->world() : 1; }

  /// Each value becomes its sum over the ranks.
  void sum(std::span<double> values) const {
    if (ranks_) ranks_->sum(values);
  }
  double sum(double value) const {
    sum(std::span<double>(&value, 1));
    return value;
  }

  /// Replaces each value, a mean over this rank's rows, by the mean over all ranks' rows. `share`
  /// is this rank's share of the rows, 0 to 1; if it is 0, the values are not read. The gradient of
  /// a mean loss is such a mean.
  template <class Number>
  void mean(std::span<Number> values, double share) const {
    if (!ranks_) return;
    const auto weight = static_cast<Number>(share);
    for (auto& value : values) value = share > 0.0 ? value * weight : Number{0};
    ranks_->sum(values);
  }

 private:
  std::shared_ptr<collective> ranks_;  // null for a learner alone
};

namespace detail {

/// Throws collective_error if another rank's learner is in another state. `state` is what the
/// learner's `save` returned. All ranks call it together.
void require_same_state(collective& ranks, const std::string& learner, const std::string& state);

}  // namespace detail

}  // namespace troupe

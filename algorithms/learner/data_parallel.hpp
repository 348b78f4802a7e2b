#pragma once
// Several ranks train one set of weights: each has some rows of every batch, and all of them update
// together to what one learner would make of the whole batch, but for rounding.

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <ATen/core/Tensor.h>

#include "actors/collective/collective.hpp"

namespace troupe {

/// What a learner asks of the other ranks, so that its update is that of the whole batch. By
/// default a learner is alone: it has all rows, and no call does anything. All ranks make the same
/// calls in the same order. Members throw collective_error.
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

  /// Each value, which is a mean over this rank's rows, becomes the mean over all ranks' rows. This
  /// rank has `share` of them; where it has none, its values are not read. A gradient of a mean
  /// loss is such a mean.
  template <class Number>
  void mean(std::span<Number> values, double share) const {
    if (!ranks_) return;
    const auto weight = static_cast<Number>(share);
    for (auto& value : values) value = share > 0.0 ? value * weight : Number{0};
    ranks_->sum(values);
  }

 private:
  std::shared_ptr<collective> ranks_;  // null: alone
};

namespace detail {

/// Throws collective_error if another rank's learner is in another state. `state`: what the
/// learner saves. All ranks call it together.
void require_same_state(collective& ranks, const std::string& learner, const std::string& state);

}  // namespace detail

/// A learner that may be one of several ranks. Learner is an update rule without actors:
///
///   report update(const Batch&, ...)         one update, by the rows of this rank
///   void join(rank_group)                    the ranks that have the other rows
///   const at::Tensor& parameters() const     float [P]
///   std::string save() const                 all that decides its next update, but for parameters
///   const char* name() const                 for errors
///
/// and Batch has, found by argument-dependent lookup,
///
///   Batch shard_of(const Batch& whole, std::size_t rank, std::size_t world)
template <class Learner>
class data_parallel {
 public:
  explicit data_parallel(Learner learner) : learner_(std::move(learner)) {}

  /// From now on this is one of several ranks, and the weights are rank 0's. A group of one changes
  /// nothing. Throws collective_error, also where the learners are not in the same state. Where an
  /// update throws collective_error, the learner is left in the middle of that update: it goes on
  /// after its state has been restored and it has joined another group.
  void join(std::shared_ptr<collective> ranks) {
    if (ranks->world() == 1) return;
    const at::Tensor& parameters = learner_.parameters();
    ranks->broadcast(
        {parameters.template data_ptr<float>(), static_cast<std::size_t>(parameters.numel())});
    detail::require_same_state(*ranks, learner_.name(), learner_.save());
    ranks_ = rank_group(std::move(ranks));
    learner_.join(ranks_);
  }

  /// One update of the whole batch, of which this rank takes its shard.
  template <class Batch, class... More>
  auto update(const Batch& whole, const More&... more) {
    if (ranks_.is_alone()) return learner_.update(whole, more...);
    return learner_.update(shard_of(whole, ranks_.rank(), ranks_.world()), more...);
  }

  Learner& learner() { return learner_; }
  const Learner& learner() const { return learner_; }

 private:
  Learner learner_;
  rank_group ranks_;
};

}  // namespace troupe

#pragma once
// Data-parallel training: several ranks train one set of weights. Each rank has some rows of every
// batch, and their common update is, up to rounding, that of one learner with the whole batch.

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <ATen/core/Tensor.h>

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

/// A learner that may be one of several ranks. Learner is an update rule without actors, with these
/// members:
///
///   report update(const Batch&, ...)         makes one update with the rows of this rank
///   void join(rank_group)                    takes the group of ranks that have the other rows
///   const at::Tensor& parameters() const     the parameters, float [P]
///   std::string save() const                 the state that decides its next update, without
///                                            the parameters
///   const char* name() const                 the name for errors
///
/// A function for Batch is found by argument-dependent lookup:
///
///   Batch shard_of(const Batch& whole, std::size_t rank, std::size_t world)
template <class Learner>
class data_parallel {
 public:
  explicit data_parallel(Learner learner) : learner_(std::move(learner)) {}

  /// Joins a group of ranks and takes the weights of rank 0. A group of one changes nothing. Throws
  /// collective_error if a rank is lost or if the learners are not in the same state. If an update
  /// throws collective_error, the learner is left in the middle of that update; its state must be
  /// restored and it must join another group before it goes on.
  void join(std::shared_ptr<collective> ranks) {
    if (ranks->world() == 1) return;
    const at::Tensor& parameters = learner_.parameters();
    ranks->broadcast(
        {parameters.template data_ptr<float>(), static_cast<std::size_t>(parameters.numel())});
    detail::require_same_state(*ranks, learner_.name(), learner_.save());
    ranks_ = rank_group(std::move(ranks));
    learner_.join(ranks_);
  }

  /// Makes one update with the whole batch. This rank works on its shard of the batch.
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

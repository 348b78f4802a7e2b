#pragma once
// Targets and minibatches of an on-policy update. on_policy_learner uses them.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "actors/gradients/policy.hpp"
#include "algorithms/learner/row_order.hpp"
#include "algorithms/losses/ppo_loss.hpp"
#include "algorithms/on_policy/rollout_batch.hpp"

namespace troupe::detail {

/// The targets of the T * B steps of a rollout, [T, B] each. Step (t, b) has index t * B + b.
struct training_targets {
  at::Tensor value;
  at::Tensor advantage;
  at::Tensor returns;
  at::Tensor proximal_log_prob;  ///< Undefined unless the batch is stale.
};

/// A minibatch: some steps of a rollout, copied into contiguous memory. The object keeps its
/// buffers and is used for every minibatch.
class minibatch {
 public:
  explicit minibatch(const network_shape& shape);

  /// Copies the steps with these indices. The tensors must be contiguous.
  void gather(const rollout_batch& batch, const training_targets& targets,
              std::span<const row_index> index);
  /// Copies only the observations and actions of the steps.
  void gather(const rollout_batch& batch, std::span<const row_index> index);

  int rows() const { return rows_; }
  std::span<const float> obs() const { return {obs_.data(), count() * obs_size_}; }
  /// The numbers of the rows that train the policy, not the critic alone. None means all.
  std::optional<std::span<const std::int64_t>> acted() const;
  std::span<float> returns() { return {returns_.data(), count()}; }
  std::span<float> advantage() { return {advantage_.data(), count()}; }
  action_rows actions() const;
  /// The inputs of a loss with what the evaluation's graph has computed.
  ppo_loss_inputs loss_inputs(const action_evaluation& evaluation) const;

 private:
  std::size_t count() const { return static_cast<std::size_t>(rows_); }

  std::size_t obs_size_;
  std::size_t choices_;  // P
  std::size_t floats_;   // A
  bool stale_ = false;
  bool all_acted_ = true;
  int rows_ = 0;
  std::vector<float> obs_, action_value_;
  std::vector<std::int64_t> action_choice_, acted_;
  std::vector<float> behaviour_log_prob_, proximal_log_prob_, advantage_, returns_, old_value_;
};

/// The indices of the steps to train on: those that are valid and whose numbers are all finite.
/// They are ordered by environment, as in Stable-Baselines3. Throws c10::Error if an action is not
/// one of the choices.
std::vector<row_index> usable_rows(const rollout_batch& batch, const training_targets& targets,
                                   const network_shape& shape);

/// Those of these steps that train the policy.
std::vector<row_index> acted_rows(const rollout_batch& batch, std::span<const row_index> index);

}  // namespace troupe::detail

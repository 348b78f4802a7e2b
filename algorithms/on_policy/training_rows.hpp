#pragma once
// Targets and minibatches of an on-policy update. on_policy_learner uses them.

#include <cstdint>
#include <span>
#include <vector>

#include "actors/networks/actor_critic.hpp"
#include "algorithms/learner/row_order.hpp"
#include "algorithms/losses/ppo_loss_rows.hpp"
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
  const float* obs() const { return obs_.data(); }
  /// 1 for each row that trains the policy, not the critic alone. Empty means all.
  std::span<const std::uint8_t> acted() const { return acted_; }
  std::span<float> returns() { return {returns_.data(), static_cast<std::size_t>(rows_)}; }
  std::span<float> advantage() { return {advantage_.data(), static_cast<std::size_t>(rows_)}; }
  action_rows actions() const;
  ppo_loss_rows loss_rows(const evaluation_rows& evaluation) const;

  /// Tensors over the same memory, which are valid until the next gather.
  at::Tensor obs_tensor() const;
  /// As rollout_batch's action and continuous.
  at::Tensor action_tensor() const;
  at::Tensor continuous_tensor() const;
  at::Tensor advantage_tensor() const;
  ppo_loss_inputs loss_inputs(const action_evaluation& evaluation) const;

 private:
  std::size_t obs_size_;
  std::size_t choices_;  // P
  std::size_t floats_;   // A
  bool stale_ = false;
  int rows_ = 0;
  std::vector<float> obs_, action_value_;
  std::vector<std::int64_t> action_choice_;
  std::vector<std::uint8_t> acted_;
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

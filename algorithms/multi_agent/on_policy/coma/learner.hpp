#pragma once
// COMA's learner: counterfactual multi-agent policy gradients (Foerster et al. 2018,
// https://arxiv.org/abs/1705.08926, algorithm 1). It can be used without a run.

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "actors/trainer/optimizer.hpp"
#include "algorithms/multi_agent/on_policy/coma/central_critic.hpp"
#include "algorithms/multi_agent/on_policy/coma/config.hpp"
#include "algorithms/multi_agent/on_policy/coma/critic_inputs.hpp"
#include "algorithms/on_policy/actor_critic_learner.hpp"
#include "algorithms/on_policy/minibatch_gradient.hpp"
#include "algorithms/on_policy/policy_learners.hpp"
#include "algorithms/on_policy/training_rows.hpp"

namespace troupe {

/// What an update of one policy learns from: T steps of C columns.
struct coma_batch {
  rollout_batch rows;  ///< As to_batch makes it, contiguous. Its values are not read.
  critic_rows critic;  ///< What the central critic sees in these rows.
};

/// The update rule of COMA for one policy. An update first trains the critic by TD(lambda) targets
/// of the target network, in minibatches, and then takes one step of the actor on the whole batch,
/// with the advantages of the trained critic. The actor minimises the mean of
/// -A log pi(u | o) - ent_coef H(pi(. | o)). In a stale batch A is weighted by the ratio of the
/// present probability of u to that when it was chosen, cut at importance_cap.
///
/// Rows that are invalid or have numbers that are not finite are dropped. A step whose loss or
/// gradient is not finite is skipped. A chosen learning rate is the actor's alone.
/// "train/critic_loss" is the mean loss of the critic's minibatches. Throws c10::Error if the
/// shapes of a batch don't fit. The state is without the parameters of the network that acts.
class coma_learner final : public actor_critic_learner<coma_batch> {
 public:
  /// `inputs` is the width of the rows that the critic sees, and `parts` are those that go through
  /// policy.encoder. The seed decides the initial weights and the order of the critic's
  /// minibatches. Throws std::invalid_argument that names the option if one is out of range, and if
  /// the shape has other actions than one Discrete.
  coma_learner(const network_shape& shape, int inputs, const coma_options& options,
               std::uint64_t seed, const std::vector<encoded_part>& parts = {});

  /// Returns the targets y of Q(s, u) [T, C]: TD(lambda) returns (equation 2) with the values of
  /// the target network, and the batch's rewards as they are.
  at::Tensor targets_of(const coma_batch& batch);
  /// Returns the counterfactual advantages (equation 4) by the present networks, [T, C]; 0 for rows
  /// that are not among `rows`.
  at::Tensor advantages_of(const coma_batch& batch, std::span<const detail::row_index> rows);

  central_critic& critic() { return critic_; }

  void visit_state(state_visitor& visit) override;

 private:
  void check_batch(const coma_batch& batch) const override;
  void train(const coma_batch& batch) override;
  at::Tensor targets_with(const coma_batch& batch, const at::Tensor& reward);
  at::Tensor values_of(const coma_batch& batch);
  /// Returns the mean loss of the minibatches.
  double train_critic(const coma_batch& batch, const detail::training_targets& targets,
                      const std::vector<detail::row_index>& usable);
  /// Returns the metrics of the loss, and the gradient's norm before clipping.
  std::pair<ppo_loss_metrics, double> train_actor(const coma_batch& batch,
                                                  detail::training_targets& targets,
                                                  const std::vector<detail::row_index>& usable);

  coma_options options_;
  central_critic critic_;
  optimizer actor_optimizer_, critic_optimizer_;
  detail::minibatch minibatch_;
  detail::minibatch_gradient gradient_;
  std::unique_ptr<graph> acting_graph_;  // of the probabilities in advantages
  detail::reward_scale reward_scale_;
  std::int64_t critic_steps_ = 0;
  std::vector<float> inputs_, q_, target_;  // of some rows: [rows, I], [rows, n], [rows]
  std::vector<std::int64_t> choice_;        // [rows]
};

/// The learner of all policies of a run. Throws std::invalid_argument that names the option if one
/// is out of range.
std::unique_ptr<rollout_learner> make_learner(const network_shape& shape,
                                              const coma_config& config);

}  // namespace troupe

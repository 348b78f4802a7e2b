#pragma once
// COMA's learner: counterfactual multi-agent policy gradients (Foerster et al. 2018,
// https://arxiv.org/abs/1705.08926, algorithm 1). It can be used without a run.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/networks/actor_critic.hpp"
#include "actors/random/action_random.hpp"
#include "actors/trainer/optimizer.hpp"
#include "algorithms/learner/skip_guard.hpp"
#include "algorithms/multi_agent/on_policy/coma/central_critic.hpp"
#include "algorithms/multi_agent/on_policy/coma/config.hpp"
#include "algorithms/multi_agent/on_policy/coma/critic_inputs.hpp"
#include "algorithms/multi_agent/on_policy/joint_learner.hpp"
#include "algorithms/on_policy/minibatch_gradient.hpp"
#include "algorithms/on_policy/training_rows.hpp"

namespace troupe {

/// What an update of one policy learns from: T steps of C columns.
struct coma_batch {
  rollout_batch rows;  ///< As to_batch makes it, contiguous. Its values are not read.
  critic_rows critic;  ///< What the central critic sees in these rows.
};

/// The state of coma_learner without the parameters of the network that acts.
struct coma_learner_state {
  std::vector<float> critic, target;  ///< [Q]
  optimizer_state actor_optimizer, critic_optimizer;
  action_random::state_type random{};
  std::int64_t n_updates = 0;
  std::int64_t critic_steps = 0;
  int skipped_in_a_row = 0;
  detail::reward_scale::state reward_scale = {};  ///< Used with normalize_reward.
};

/// The update rule of COMA for one policy. An update first trains the critic by TD(lambda) targets
/// of the target network, in minibatches, and then takes one step of the actor on the whole batch,
/// with the advantages of the trained critic. The actor minimises the mean of
/// -A log pi(u | o) - ent_coef H(pi(. | o)). In a stale batch A is weighted by the ratio of the
/// present probability of u to that when it was chosen, cut at importance_cap.
class coma_learner {
 public:
  /// `inputs` is the width of the rows that the critic sees. The seed decides the initial weights
  /// and the order of the critic's minibatches. Throws std::invalid_argument that names the option
  /// if one is out of range, and if the shape has other actions than one Discrete.
  coma_learner(const network_shape& shape, int inputs, const coma_options& options,
               std::uint64_t seed);

  /// Makes one update. Rows that are invalid or have numbers that are not finite are dropped. A
  /// step whose loss or gradient is not finite is skipped; max_skipped_steps in a row throw
  /// non_finite_training. `progress_remaining` falls from 1 to 0 during training. `chosen_lr`
  /// replaces the actor's lr and its schedule. The report's value_loss is the mean loss of the
  /// critic's minibatches. Throws c10::Error if the shapes of the batch don't fit.
  on_policy_report update(const coma_batch& batch, double progress_remaining = 1.0,
                          std::optional<double> chosen_lr = {});

  /// Returns the targets y of Q(s, u) [T, C]: TD(lambda) returns (equation 2) with the values of
  /// the target network, and the batch's rewards as they are.
  at::Tensor targets_of(const coma_batch& batch);
  /// Returns the counterfactual advantages (equation 4) by the present networks, [T, C]; 0 for rows
  /// that are not among `rows`.
  at::Tensor advantages_of(const coma_batch& batch, std::span<const detail::row_index> rows);

  actor_critic& model() { return model_; }
  const actor_critic& model() const { return model_; }
  central_critic& critic() { return critic_; }

  coma_learner_state state() const;
  /// Throws std::invalid_argument if the state is that of another network.
  void set_state(const coma_learner_state& state);

 private:
  void check_batch(const coma_batch& batch) const;
  at::Tensor targets_with(const coma_batch& batch, const at::Tensor& reward);
  at::Tensor values_of(const coma_batch& batch);
  void train_critic(const coma_batch& batch, const detail::training_targets& targets,
                    const std::vector<detail::row_index>& usable, double lr,
                    on_policy_report& report);
  void train_actor(const coma_batch& batch, detail::training_targets& targets,
                   const std::vector<detail::row_index>& usable, double progress_remaining,
                   on_policy_report& report);
  void skip(const char* what, double value, on_policy_report& report);

  coma_options options_;
  action_random random_;
  actor_critic model_;
  central_critic critic_;
  optimizer actor_optimizer_, critic_optimizer_;
  detail::minibatch minibatch_;
  detail::minibatch_gradient gradient_;
  std::unique_ptr<graph> acting_graph_;  // of the probabilities in advantages
  detail::reward_scale reward_scale_;
  detail::skip_guard skips_;
  std::int64_t n_updates_ = 0;
  std::int64_t critic_steps_ = 0;
  std::vector<float> inputs_, q_, target_;  // of some rows: [rows, I], [rows, n], [rows]
  std::vector<std::int64_t> choice_;        // [rows]
};

/// The learner of a run. Throws std::invalid_argument that names the option if one is out of range.
joint_learner make_learner(const network_shape& shape, const coma_config& config);

}  // namespace troupe

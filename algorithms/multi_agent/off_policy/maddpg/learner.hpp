#pragma once
// The learner of MADDPG and MATD3. It can be used without a run.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "actors/kernels/float_block.hpp"
#include "actors/networks/named_tensors.hpp"
#include "actors/random/action_random.hpp"
#include "actors/trainer/adam.hpp"
#include "algorithms/learner/metric_means.hpp"
#include "algorithms/learner/non_finite_training.hpp"
#include "algorithms/learner/skip_guard.hpp"
#include "algorithms/learner/trained_block.hpp"
#include "algorithms/multi_agent/off_policy/maddpg/config.hpp"
#include "algorithms/multi_agent/off_policy/maddpg/networks.hpp"
#include "algorithms/multi_agent/off_policy/maddpg/rule.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

/// The metrics of one gradient step. Means are over the agents that act in a row; losses are summed
/// over the policies.
struct maddpg_metrics {
  double actor_loss = 0.0;     ///< The mean of -Q1; 0 if the actors were not trained.
  double critic_loss = 0.0;    ///< The sum over critics of their mean squared errors.
  double q_mean = 0.0;         ///< The mean Q1 of the batch.
  std::int64_t n_updates = 0;  ///< Gradient steps since the start.
  bool trained_actor = false;
  double learning_rate = 0.0;
  bool skipped = false;  ///< The step was ended because a loss or gradient was not finite.
};

/// The metrics as columns of progress.csv.
named_values named(const maddpg_metrics& metrics);

/// The state of one policy's networks, with the optimisers.
struct maddpg_policy_state {
  std::vector<float> critics, target_critics;  ///< [Q], as critic_ensemble's parameters()
  adam_state actor_optimizer, critic_optimizer;
};

/// The state from which a learner goes on exactly.
struct maddpg_learner_state {
  std::vector<float> actors, target_actors;  ///< [P]
  std::vector<maddpg_policy_state> policies;
  action_random::state_type random{};
  std::int64_t n_updates = 0;
  int skipped_in_a_row = 0;
  detail::reward_scale::state reward_scale = {};  ///< Used with normalize_reward.
};

/// The update rule of multi-agent deep deterministic policy gradient (Lowe et al. 2017,
/// https://arxiv.org/abs/1706.02275, algorithm 1) and, with several critics, delay and noise, of
/// MATD3 (Ackermann et al. 2019, https://arxiv.org/abs/1910.01465, algorithm 1). For agent i of
/// policy p, with what critics see x and the actions a of all agents:
///
///   y = r_i + discount (1 - end_i) min_k Q'_pk(x', i, a'),  a'_j = clip(mu'_j(o'_j) + noise)
///   the critics' loss: the sum over k of the mean of (Q_pk(x, i, a) - y)^2          (equation 6)
///   the actor's loss: the mean of -Q_p1(x, i, a with mu_p(o_i) in place of a_i)     (equation 5)
///
/// Means are over the rows and agents of the policy in which the agent acts. An agent has ended
/// (end_i = 1) if its episode has terminated or it does not act in the next row.
class maddpg_learner {
 public:
  /// `seed` decides the initial weights and the noise on target actions. Policies that are frozen
  /// or scripted are not trained. Throws std::invalid_argument if an option is out of range, and as
  /// maddpg_networks.
  maddpg_learner(const network_shape& shape, const maddpg_options& options, std::uint64_t seed,
                 const agents_section& agents = {});

  /// Takes one gradient step of the critics, and in every policy_delay-th call one of the actors
  /// with an update of the targets. The step is skipped from the first loss or gradient on that is
  /// not finite; max_skipped_steps in a row throw non_finite_training. `progress_remaining` falls
  /// from 1 to 0 during training. `chosen_lr` replaces lr and its schedule. Throws
  /// std::invalid_argument if the batch does not fit.
  maddpg_metrics update(const transition_batch& batch, double progress_remaining = 1.0,
                        std::optional<double> chosen_lr = {});
  /// The mean over trained agents that act, and over critics, of |Q - y| for each row of the last
  /// update [B]; 0 where none acts.
  std::span<const float> td_errors() const { return td_errors_; }

  const maddpg_options& options() const { return options_; }
  const maddpg_networks& networks() const { return networks_; }
  const std::vector<std::uint8_t>& trained() const { return trained_; }  ///< [policies]
  /// The parameters of all actors, float [P], to publish.
  std::span<const float> acting() const { return actors_; }
  /// The gradient of a policy's actor in the last update that trained it.
  std::span<const float> actor_gradient(std::size_t policy) const {
    return own_[policy].actor.gradient();
  }
  /// The gradient of a policy's critics in the last update that trained them [Q].
  std::span<const float> critic_gradient(std::size_t policy) const {
    return own_[policy].critics.gradient();
  }
  /// What a trained policy's agents learned from in the last update.
  const maddpg_rows& rows(std::size_t policy) const { return own_[policy].rows; }

  /// The critics of all policies, with names as "POLICY.qf0.0.weight".
  named_tensors beside() const;
  /// Begins with a model's weights; the targets are copies of them. Throws std::invalid_argument if
  /// they are of other networks.
  void start_from(std::span<const float> acting, const named_tensors& beside);

  maddpg_learner_state state() const;
  /// Throws std::invalid_argument if the state is that of other networks.
  void set_state(const maddpg_learner_state& state);

 private:
  /// What the learner keeps for one policy.
  struct one_policy {
    detail::trained_block actor, critics;
    std::unique_ptr<graph> target_graph, critic_graph, actor_graph;
    std::vector<float> inputs, next_inputs;  // [B agents, I], what the actor sees
    std::vector<float> noise;                // [B agents, actions]
    maddpg_rows rows;
  };

  const transition_batch& scaled(const transition_batch& batch);
  void draw_noise(int rows);
  void see(const transition_batch& batch);
  void target_actions(std::size_t policy, const transition_batch& batch);
  void gather(std::size_t policy, const transition_batch& batch);
  void keep_errors(const maddpg_rows& rows, std::span<const float> error);
  bool step_critics(const transition_batch& batch, maddpg_metrics& metrics);
  bool step_actors(maddpg_metrics& metrics);
  void update_targets();
  void sum_td_errors(const transition_batch& batch);
  std::span<float> actor_of(std::size_t policy, std::span<float> all) const;

  maddpg_options options_;
  maddpg_networks networks_;
  std::vector<std::uint8_t> trained_;           // [policies]
  detail::float_block actors_, target_actors_;  // [P]
  std::vector<one_policy> own_;                 // of each policy
  action_random random_;
  detail::skip_guard guard_;
  detail::reward_scale reward_scale_;  // of N agents
  transition_batch scaled_;            // a batch with scaled rewards
  std::int64_t n_updates_ = 0;

  std::vector<float> noise_;                 // [B, A], clipped noise on target actions
  detail::float_block view_, next_view_;     // [B, X]
  std::vector<float> action_, next_action_;  // [B, A], as critics see them
  std::vector<float> agent_errors_;          // [B, N], |Q - y|, 0 for agents that do not act
  std::vector<float> td_errors_;             // [B]
};

}  // namespace troupe

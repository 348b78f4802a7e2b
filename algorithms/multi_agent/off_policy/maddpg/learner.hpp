#pragma once
// The learner of MADDPG and MATD3. It can be used without a run.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/kernels/float_block.hpp"
#include "algorithms/learner/learner.hpp"
#include "algorithms/learner/reward_scaling.hpp"
#include "algorithms/learner/trained_block.hpp"
#include "algorithms/multi_agent/off_policy/maddpg/config.hpp"
#include "algorithms/multi_agent/off_policy/maddpg/networks.hpp"
#include "algorithms/multi_agent/off_policy/maddpg/rule.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

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
///
/// An update takes a gradient step of the critics, and in every policy_delay-th update one of the
/// actors with an update of the targets. The metrics are "train/critic_loss" and, where the actors
/// are trained, "train/actor_loss", both summed over the policies, and "train/q_mean", the mean
/// Q_p1 of the batch. The TD errors are the means over trained agents that act, and over critics,
/// of |Q - y|; 0 where none acts.
class maddpg_learner final : public learner<transition_batch> {
 public:
  /// `seed` decides the initial weights and the noise on target actions. Policies that are frozen
  /// or scripted are not trained. Throws std::invalid_argument if an option is out of range, and as
  /// maddpg_networks.
  maddpg_learner(const network_shape& shape, const maddpg_options& options, std::uint64_t seed,
                 const agents_section& agents = {});

  const maddpg_options& options() const { return options_; }
  const maddpg_networks& networks() const { return networks_; }
  const std::vector<std::uint8_t>& trained() const { return trained_; }  ///< [policies]
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

  /// The parameters of all actors, float [P], to publish.
  std::span<const float> acting() const override { return actors_; }
  /// The critics of all policies, with names as "POLICY.qf0.0.weight".
  named_tensors beside() const override;
  void start_from(std::span<const float> acting, const named_tensors& beside) override;
  void visit_state(state_visitor& visit) override;

 private:
  /// What the learner keeps for one policy.
  struct one_policy {
    detail::trained_block actor, critics;
    std::unique_ptr<graph> target_graph, critic_graph, actor_graph;
    std::vector<float> inputs, next_inputs;  // [B agents, I], what the actor sees
    std::vector<float> noise;                // [B agents, actions]
    maddpg_rows rows;
  };

  void check_batch(const transition_batch& batch) const override;
  bool step(const transition_batch& batch) override;
  const transition_batch& scaled(const transition_batch& batch);
  void see(const transition_batch& batch);
  void target_actions(std::size_t policy, const transition_batch& batch);
  void gather(std::size_t policy, const transition_batch& batch);
  void keep_errors(const maddpg_rows& rows, std::span<const float> error);
  bool step_critics(const transition_batch& batch);
  bool step_actors();
  void update_targets();
  void sum_td_errors(const transition_batch& batch);
  std::span<float> actor_of(std::size_t policy, std::span<float> all) const;

  maddpg_options options_;
  maddpg_networks networks_;
  std::vector<std::uint8_t> trained_;           // [policies]
  detail::float_block actors_, target_actors_;  // [P]
  std::vector<one_policy> own_;                 // of each policy
  detail::reward_scale reward_scale_;           // of N agents
  transition_batch scaled_;                     // a batch with scaled rewards

  std::vector<float> noise_;                 // [B, A], clipped noise on target actions
  detail::float_block view_, next_view_;     // [B, X]
  std::vector<float> action_, next_action_;  // [B, A], as critics see them
  std::vector<float> agent_errors_;          // [B, N], |Q - y|, 0 for agents that do not act
};

}  // namespace troupe

#pragma once
// The learner of TD3 and DDPG. It can be used without a run.

#include <cstdint>
#include <memory>
#include <span>

#include "actors/networks/network.hpp"
#include "algorithms/learner/learner.hpp"
#include "algorithms/learner/trained_block.hpp"
#include "algorithms/off_policy/acting_policy.hpp"
#include "algorithms/off_policy/critic_ensemble.hpp"
#include "algorithms/off_policy/td3/config.hpp"
#include "algorithms/off_policy/td3/rule.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

/// The update rule of twin delayed deep deterministic policy gradient (Fujimoto et al. 2018,
/// https://arxiv.org/abs/1802.09477, algorithm 1) with the details of Stable-Baselines3. An update
/// takes a gradient step of the critics, and in every policy_delay-th update one of the actor with
/// an update of the targets. The metrics are "train/critic_loss", the sum over critics of their
/// mean squared errors, "train/q_mean", the mean Q1(s, a) of the batch, and where the actor is
/// trained "train/actor_loss", the mean of -Q1(s, mu(s)). The TD errors are the means over critics
/// of |Q(s, a) - target|.
class td3_learner : public learner<transition_batch> {
 public:
  /// `seed` decides the initial weights and the noise on target actions. A `bootstrap` of null
  /// means TD3's rule. Throws std::invalid_argument if an option is out of range or the shape has
  /// no continuous actions.
  td3_learner(const network_shape& shape, const td3_options& options, std::uint64_t seed,
              bootstrap_rule bootstrap = nullptr);

  const td3_options& options() const { return options_; }
  /// The network that acts; its parameters() are the block to publish.
  acting_policy& policy() { return actor_; }
  const acting_policy& policy() const { return actor_; }
  const detail::critic_ensemble& critics() const { return critics_; }
  /// The gradient of the last update that trained the actor [P].
  std::span<const float> actor_gradient() const { return trained_actor_.gradient(); }
  /// The gradient of the critics in the last update [Q].
  std::span<const float> critic_gradient() const { return trained_critics_.gradient(); }

  std::span<const float> acting() const override { return actor_.parameters(); }
  /// The critics as a model file has them.
  named_tensors beside() const override;
  void start_from(std::span<const float> acting, const named_tensors& beside) override;
  void visit_state(state_visitor& visit) override;

 protected:
  /// Returns the bootstrap values as bootstrap_rule does, by the rule of the constructor. A rule
  /// with a state overrides it in a class of its own, and shows the state in visit_state.
  virtual variable next_value(variable q, const transition_batch& batch);

 private:
  void check_batch(const transition_batch& batch) const override;
  bool step(const transition_batch& batch) override;

  td3_options options_;
  bootstrap_rule bootstrap_;
  acting_policy actor_;
  detail::float_block target_actor_;  // [P]
  detail::critic_ensemble critics_;
  detail::trained_block trained_actor_, trained_critics_;
  std::unique_ptr<graph> actor_graph_, critic_graph_;
  detail::float_block noise_;  // [B, A], clipped noise on target actions
};

}  // namespace troupe

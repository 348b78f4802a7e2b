#pragma once
// The learner of TD3 and DDPG. It can be used without a run.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "actors/networks/named_tensors.hpp"
#include "actors/networks/network.hpp"
#include "actors/random/action_random.hpp"
#include "algorithms/learner/non_finite_training.hpp"
#include "algorithms/learner/state_parts.hpp"
#include "algorithms/learner/trained_block.hpp"
#include "algorithms/off_policy/acting_policy.hpp"
#include "algorithms/off_policy/critic_ensemble.hpp"
#include "algorithms/off_policy/learner_checks.hpp"
#include "algorithms/off_policy/td3/config.hpp"
#include "algorithms/off_policy/td3/rule.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

/// The metrics of one gradient step, with Stable-Baselines3's names.
struct td3_metrics {
  double actor_loss = 0.0;     ///< The mean of -Q1(s, mu(s)); 0 if the actor was not trained.
  double critic_loss = 0.0;    ///< The sum over critics of their mean squared errors.
  double q_mean = 0.0;         ///< The mean Q1(s, a) of the batch.
  std::int64_t n_updates = 0;  ///< Gradient steps since the start.
  bool trained_actor = false;
  double learning_rate = 0.0;
  bool skipped = false;  ///< The step was ended because a loss or gradient was not finite.
};

/// The state from which a learner goes on exactly.
struct td3_learner_state {
  std::vector<float> actor;           ///< [P]
  std::vector<float> critics;         ///< [Q], as critic_ensemble's parameters()
  std::vector<float> target_actor;    ///< [P]
  std::vector<float> target_critics;  ///< [Q]
  adam_state actor_optimizer;
  adam_state critic_optimizer;
  action_random::state_type random{};
  std::int64_t n_updates = 0;
  int skipped_in_a_row = 0;
};

/// The update rule of twin delayed deep deterministic policy gradient (Fujimoto et al. 2018,
/// https://arxiv.org/abs/1802.09477, algorithm 1) with the details of Stable-Baselines3.
class td3_learner {
 public:
  /// `seed` decides the initial weights and the noise on target actions. Throws
  /// std::invalid_argument if an option is out of range or the shape has no continuous actions.
  td3_learner(const network_shape& shape, const td3_options& options, std::uint64_t seed,
              bootstrap_rule bootstrap = nullptr);

  /// Takes one gradient step of the critics, and in every policy_delay-th call one of the actor
  /// with an update of the targets. The step is skipped from the first loss or gradient on that is
  /// not finite; max_skipped_steps in a row throw non_finite_training. `progress_remaining` falls
  /// from 1 to 0 during training. `chosen_lr` replaces lr and its schedule. Throws
  /// std::invalid_argument if the batch does not fit.
  td3_metrics update(const transition_batch& batch, double progress_remaining = 1.0,
                     std::optional<double> chosen_lr = {});
  /// The mean over critics of |Q(s, a) - target| for each row of the last update [B].
  std::span<const float> td_errors() const { return td_errors_; }

  const td3_options& options() const { return options_; }
  /// The network that acts; its parameters() are the block to publish.
  acting_policy& policy() { return actor_; }
  const acting_policy& policy() const { return actor_; }
  const detail::critic_ensemble& critics() const { return critics_; }
  /// The gradient of the last update that trained the actor [P].
  std::span<const float> actor_gradient() const { return trained_actor_.gradient(); }
  /// The gradient of the critics in the last update [Q].
  std::span<const float> critic_gradient() const { return trained_critics_.gradient(); }

  /// The critics as a model file has them.
  named_tensors beside() const;
  /// Begins with a model's weights; the targets are copies of them. Throws std::invalid_argument if
  /// they are of other networks.
  void start_from(std::span<const float> acting, const named_tensors& beside);

  td3_learner_state state() const;
  /// Throws std::invalid_argument if the state is that of another network.
  void set_state(const td3_learner_state& state);

 private:
  friend struct detail::learner_parts;
  template <class Self, class State, class Visit>
  static void parts(Self& self, State& state, const Visit& visit);

  void draw_noise(int rows);
  bool step_networks(const transition_batch& batch, td3_metrics& metrics);

  td3_options options_;
  bootstrap_rule bootstrap_;
  acting_policy actor_;
  detail::float_block target_actor_;  // [P]
  detail::critic_ensemble critics_;
  detail::trained_block trained_actor_, trained_critics_;
  action_random random_;
  std::unique_ptr<graph> actor_graph_, critic_graph_;
  detail::skip_guard guard_;
  std::int64_t n_updates_ = 0;

  detail::float_block noise_;  // [B, A], clipped noise on target actions
  std::vector<float> td_errors_;
};

}  // namespace troupe

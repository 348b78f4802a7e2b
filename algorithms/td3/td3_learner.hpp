#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "actors/policy/action_random.hpp"
#include "actors/policy/network.hpp"
#include "actors/trainer/adam.hpp"
#include "algorithms/non_finite_training.hpp"
#include "algorithms/off_policy/acting_policy.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

/// Defaults are those of Stable-Baselines3's TD3 and its MlpPolicy. Actions are within -1..1, and
/// so are the units of the noises.
struct td3_options {
  double lr = 1e-3;                  ///< Adam's step size for actor and critics
  double tau = 0.005;                ///< share of the new networks in the targets
  int policy_delay = 2;              ///< gradient steps of the critics for one of the actor
  double target_policy_noise = 0.2;  ///< standard deviation of the noise on target actions
  double target_noise_clip = 0.5;    ///< largest such noise
  int n_critics = 2;                 ///< the smallest of their targets counts
  double adam_eps = 1e-8;            ///< added to the root of the second moment
  int max_skipped_steps = 10;        ///< non-finite steps in a row that end training
  gradient_backend backend = gradient_backend::automatic;
  network_options network = {
      .hidden = {400, 300}, .hidden_activation = activation::relu, .ortho_init = false};
};

/// DDPG, Lillicrap et al. 2016, https://arxiv.org/abs/1509.02971, as Stable-Baselines3 makes it of
/// TD3: one critic, no delay, no noise on target actions.
td3_options ddpg_options();

/// One gradient step, in Stable-Baselines3's names.
struct td3_metrics {
  double actor_loss = 0.0;     ///< mean of -Q1(s, mu(s)); of the last step that trained the actor
  double critic_loss = 0.0;    ///< sum over critics of their mean squared error
  double q_mean = 0.0;         ///< mean Q1(s, a) of the batch
  std::int64_t n_updates = 0;  ///< gradient steps since the start
  bool trained_actor = false;
  bool skipped = false;  ///< a loss or gradient was not finite: the weights stayed
};

/// Everything an exact continuation needs.
struct td3_learner_state {
  std::vector<float> actor;           ///< [P]
  std::vector<float> critics;         ///< [Q], one critic after another
  std::vector<float> target_actor;    ///< [P]
  std::vector<float> target_critics;  ///< [Q]
  adam_state actor_optimizer;
  adam_state critic_optimizer;
  action_random::state_type random{};
  std::int64_t n_updates = 0;
  double actor_loss = 0.0;
  int skipped_in_a_row = 0;
};

/// The update rule of twin delayed deep deterministic policy gradient: Fujimoto et al. 2018,
/// https://arxiv.org/abs/1802.09477, algorithm 1, with the details of Stable-Baselines3.
class td3_learner {
 public:
  /// The seed decides the initial weights and the noise on target actions. Throws
  /// std::invalid_argument naming an option out of range, or a shape without continuous actions.
  td3_learner(const network_shape& shape, const td3_options& options, std::uint64_t seed);

  /// One gradient step of the critics, and every policy_delay-th of the actor and the targets. One
  /// with a loss or gradient that is not finite is skipped; max_skipped_steps in a row throw
  /// non_finite_training. `lr_scale` multiplies the learning rates, for a schedule. Throws
  /// std::invalid_argument if the batch does not fit.
  td3_metrics update(const transition_batch& batch, double lr_scale = 1.0);
  /// Mean over critics of |Q(s, a) - target| of the rows of the last update [B].
  std::span<const float> td_errors() const;

  const td3_options& options() const;
  /// The network that acts; its parameters() are the block to publish.
  acting_policy& policy();
  const acting_policy& policy() const;

  td3_learner_state state() const;
  /// Throws std::invalid_argument if the state is of another network.
  void set_state(const td3_learner_state& state);
};

}  // namespace troupe

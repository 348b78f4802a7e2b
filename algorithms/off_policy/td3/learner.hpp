#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "actors/networks/network.hpp"
#include "actors/random/action_random.hpp"
#include "actors/trainer/adam.hpp"
#include "algorithms/learner/non_finite_training.hpp"
#include "algorithms/off_policy/acting_policy.hpp"
#include "algorithms/off_policy/critic_ensemble.hpp"
#include "algorithms/off_policy/learner_checks.hpp"
#include "algorithms/off_policy/td3/config.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

/// What tells an algorithm of this kind from TD3: the value that is bootstrapped from, of one next
/// state. The critics are fitted to reward + discount (1 - terminated) value. `q` [n_critics] are
/// the values of the target critics there, for the target actor's action with its noise. Called
/// once for each row of a batch; nothing is differentiated. Null: the smallest of them, which is
/// TD3's.
using bootstrap_rule = std::function<float(std::span<const float> q)>;

/// One gradient step, in Stable-Baselines3's names.
struct td3_metrics {
  double actor_loss = 0.0;     ///< mean of -Q1(s, mu(s)); 0 where the actor was not trained
  double critic_loss = 0.0;    ///< sum over critics of their mean squared error
  double q_mean = 0.0;         ///< mean Q1(s, a) of the batch
  std::int64_t n_updates = 0;  ///< gradient steps since the start
  bool trained_actor = false;
  double learning_rate = 0.0;
  bool skipped = false;  ///< a loss or gradient was not finite: the weights stayed
};

/// Everything an exact continuation needs.
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

/// The update rule of twin delayed deep deterministic policy gradient: Fujimoto et al. 2018,
/// https://arxiv.org/abs/1802.09477, algorithm 1, with the details of Stable-Baselines3.
class td3_learner {
 public:
  /// The seed decides the initial weights and the noise on target actions. Throws
  /// std::invalid_argument naming an option out of range, or a shape without continuous actions.
  td3_learner(const network_shape& shape, const td3_options& options, std::uint64_t seed,
              bootstrap_rule bootstrap = nullptr);

  /// One gradient step of the critics, and every policy_delay-th of the actor and the targets. One
  /// with a loss or gradient that is not finite is skipped; max_skipped_steps in a row throw
  /// non_finite_training. `progress_remaining` falls from 1 to 0 over the training. `chosen_lr`:
  /// the optimisers' step size in place of lr and its schedule. Throws std::invalid_argument if the
  /// batch does not fit.
  td3_metrics update(const transition_batch& batch, double progress_remaining = 1.0,
                     std::optional<double> chosen_lr = {});
  /// Mean over critics of |Q(s, a) - target| of the rows of the last update [B].
  std::span<const float> td_errors() const { return td_errors_; }

  const td3_options& options() const { return options_; }
  /// The network that acts; its parameters() are the block to publish.
  acting_policy& policy() { return actor_; }
  const acting_policy& policy() const { return actor_; }
  const detail::critic_ensemble& critics() const { return critics_; }
  /// Of the last update that trained the actor [P], the critics' is critics().gradient().
  std::span<const float> actor_gradient() const { return actor_gradient_; }

  td3_learner_state state() const;
  /// Throws std::invalid_argument if the state is of another network.
  void set_state(const td3_learner_state& state);

 private:
  static constexpr float critic_scale = 1.0f;  // as Stable-Baselines3

  struct critic_result {
    double loss = 0.0;
    double q_mean = 0.0;
  };
  void draw_noise(int rows);
  void bootstrap_values(const transition_batch& batch, const float* action, float* value);
  critic_result critic_gradient(const transition_batch& batch);
  critic_result critic_gradient_by_autograd(const transition_batch& batch);
  double actor_gradient(const transition_batch& batch);
  double actor_gradient_by_autograd(const transition_batch& batch);
  bool step_networks(const transition_batch& batch, td3_metrics& metrics);

  td3_options options_;
  bootstrap_rule bootstrap_;
  acting_policy actor_;
  detail::float_block target_actor_;  // [P]
  detail::critic_ensemble critics_;
  adam actor_optimizer_, critic_optimizer_;
  action_random random_;
  bool fused_;
  detail::skip_guard guard_;
  std::int64_t n_updates_ = 0;

  detail::float_block noise_;     // [B, A], of target actions, already clipped
  detail::float_block targets_;   // [B]
  detail::float_block target_q_;  // [B, n_critics]; with a bootstrap_rule
  detail::float_block action_, value_, d_action_;
  detail::float_block actor_gradient_;
  detail::mlp_buffers actor_buffers_;
  std::vector<float> td_errors_;
};

}  // namespace troupe

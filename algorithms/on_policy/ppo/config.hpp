#pragma once

#include <optional>
#include <string>

#include "algorithms/on_policy/config.hpp"

namespace troupe {

enum class optimizer_kind {
  adam,
  rmsprop,                 ///< as PyTorch
  rmsprop_tensorflow_like  ///< Stable-Baselines3's RMSpropTFLike
};

/// Options of PPO's learner, of which A2C's and REINFORCE's are cases. `describe` has the unit, the
/// range and the meaning of each. Defaults are those of Stable-Baselines3's PPO and its MlpPolicy.
struct ppo_options : on_policy_options {
  int n_steps = 2048;
  int batch_size = 64;
  int n_epochs = 10;
  double gae_lambda = 0.95;
  double clip_range = 0.2;
  annealing clip_schedule = annealing::constant;
  std::optional<double> clip_range_vf;
  bool normalize_advantage = true;
  std::optional<double> target_kl;
  bool proximal_correction = false;
  network_options network;

  optimizer_kind optimizer = optimizer_kind::adam;
  double rmsprop_alpha = 0.99;
  bool baseline = true;
  bool whole_episodes = false;
};

/// Everything that decides a PPO run. Defaults: Stable-Baselines3's.
struct ppo_config : on_policy_config {
  ppo_config() { algo = "ppo"; }

  ppo_options trainer;  ///< its n_steps and network are taken from `rollout` and `policy`
  /// Of a run of another algorithm that is a case of PPO: its configuration as JSON. Else empty.
  std::string document;

  /// The learner's options, with rollout.n_steps and the network.
  ppo_options learner() const;
  /// The configuration as it is stored with the run.
  std::string stored() const;
};

/// One step of the policy gradient an update: one epoch, the whole batch at once, nothing clipped.
void take_whole_batches(ppo_config& config);

void describe(enum_schema<optimizer_kind>& s);
void describe(options_schema<ppo_options>& s);
void describe(options_schema<ppo_config>& s);

/// The fields `gae_lambda` and `normalize_advantage` of an Options that has them.
template <class Options>
void describe_advantages(options_schema<Options>& s) {
  s.field("gae_lambda", &Options::gae_lambda)
      .also_known_as({"lambda", "lam"})
      .at_least(0)
      .at_most(1)
      .help("Schulman et al. 2016, equation 16; 1: n-step returns");
  s.field("normalize_advantage", &Options::normalize_advantage).help("in each minibatch");
}

/// The fields `optimizer` and `rmsprop_alpha` of an Options that has them.
template <class Options>
void describe_optimizer(options_schema<Options>& s, bool listed) {
  auto& optimizer =
      s.field("optimizer", &Options::optimizer)
          .help("rmsprop: PyTorch's; rmsprop_tensorflow_like: Stable-Baselines3's RMSpropTFLike");
  auto& alpha = s.field("rmsprop_alpha", &Options::rmsprop_alpha)
                    .at_least(0)
                    .below(1)
                    .help("decay of rmsprop's mean square");
  if (listed) return;
  optimizer.unlisted();
  alpha.unlisted();
}

}  // namespace troupe

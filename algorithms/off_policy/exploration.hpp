#pragma once
// Exploration of the collectors: random actions for DQN, action noise for TD3 and DDPG.

#include <cstdint>
#include <vector>

#include "actors/random/action_random.hpp"

namespace troupe {

/// The share of random actions in DQN. It falls linearly from `initial` to `final` over the first
/// `fraction` of a run: Mnih et al. 2015, https://doi.org/10.1038/nature14236.
struct epsilon_schedule {
  double initial = 1.0;
  double final = 0.05;
  double fraction = 0.1;  ///< A share of total_steps.

  /// The share of random actions after `step` of `total_steps` environment steps.
  double at(std::int64_t step, std::int64_t total_steps) const;
};

enum class noise_kind { none, normal, ornstein_uhlenbeck };

/// The options of the noise that is added to continuous actions in [-1, 1].
struct action_noise_options {
  noise_kind kind = noise_kind::none;
  double std = 0.1;     ///< The standard deviation, sigma.
  double theta = 0.15;  ///< The rate at which noise of kind ornstein_uhlenbeck returns to 0.
  double dt = 0.01;     ///< The time step of noise of kind ornstein_uhlenbeck.
};

/// The action noise of B environments. Ornstein-Uhlenbeck noise is that of Lillicrap et al. 2016,
/// https://arxiv.org/abs/1509.02971, section 7, with Stable-Baselines3's discretisation; it starts
/// at 0 in each episode.
class action_noise {
 public:
  action_noise(const action_noise_options& options, std::size_t environments, std::size_t actions)
      : options_(options), actions_(actions) {
    if (options.kind == noise_kind::ornstein_uhlenbeck) state_.resize(environments * actions);
  }

  /// Adds noise to actions [B, A] and clips them to [-1, 1].
  void add(std::vector<float>& actions, action_random& random);
  /// Restarts the noise of an environment that begins an episode.
  void reset(std::size_t environment);

  const std::vector<double>& state() const { return state_; }
  void set_state(std::vector<double> state);

 private:
  action_noise_options options_;
  std::size_t actions_;
  std::vector<double> state_;  ///< [B, A] with ornstein_uhlenbeck, else empty
};

/// The exploration of a collector. Several agents explore each by itself; for a single agent one
/// number decides for all environments of the collector, as in Stable-Baselines3.
struct exploration {
  std::int64_t learning_starts = 0;  ///< The first so many environment steps take random actions.
  std::int64_t total_steps = 1;      ///< The environment steps of the schedule `epsilon`.
  epsilon_schedule epsilon = {};     ///< The share of random actions, if actions are discrete.
  action_noise_options noise = {};   ///< The noise, if actions are continuous.
};

}  // namespace troupe

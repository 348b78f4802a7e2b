#pragma once

#include <cstdint>
#include <vector>

#include "actors/random/action_random.hpp"

namespace troupe {

/// Falls linearly from `initial` to `final` over the first `fraction` of a run: Mnih et al. 2015,
/// https://doi.org/10.1038/nature14236.
struct epsilon_schedule {
  double initial = 1.0;
  double final = 0.05;
  double fraction = 0.1;  ///< of total_steps

  /// The share of random actions after `step` of `total_steps` environment steps.
  double at(std::int64_t step, std::int64_t total_steps) const;
};

enum class noise_kind { none, normal, ornstein_uhlenbeck };

/// Added to actions on the scale of [-1, 1], which are then clipped.
struct action_noise_options {
  noise_kind kind = noise_kind::none;
  double std = 0.1;     ///< sigma
  double theta = 0.15;  ///< of ornstein_uhlenbeck: how fast it returns to 0
  double dt = 0.01;     ///< of ornstein_uhlenbeck: its time step
};

/// Noise of B environments side by side. Ornstein-Uhlenbeck: Lillicrap et al. 2016,
/// https://arxiv.org/abs/1509.02971, section 7, with Stable-Baselines3's discretisation; it starts
/// at 0 in each episode.
class action_noise {
 public:
  action_noise(const action_noise_options& options, std::size_t environments, std::size_t actions)
      : options_(options), actions_(actions) {
    if (options.kind == noise_kind::ornstein_uhlenbeck) state_.resize(environments * actions);
  }

  /// Adds to [B, A] and clips to [-1, 1].
  void add(std::vector<float>& actions, action_random& random);
  /// That environment begins an episode.
  void reset(std::size_t environment);

  const std::vector<double>& state() const { return state_; }
  void set_state(std::vector<double> state);

 private:
  action_noise_options options_;
  std::size_t actions_;
  std::vector<double> state_;  ///< [B, A] of ornstein_uhlenbeck, else empty
};

/// How a collector acts beside its network.
struct exploration {
  std::int64_t learning_starts = 0;  ///< Environment steps by uniformly random actions.
  std::int64_t total_steps = 1;      ///< Of the run, for the schedule.
  epsilon_schedule epsilon;          ///< Of discrete actions.
  action_noise_options noise;        ///< Of continuous actions.
};

}  // namespace troupe

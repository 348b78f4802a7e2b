#pragma once
// SAC's actions: samples and log-probabilities.

#include <algorithm>
#include <span>

#include "actors/gradients/graph.hpp"

/// SAC's distribution of actions: a = tanh(u), u = mean + std z with a standard normal z. Haarnoja
/// et al. 2018, https://arxiv.org/abs/1812.05905, appendix C:
///
///   log pi(a|s) = sum over i of log N(u_i) - log(1 - tanh(u_i)^2)
///
/// Stable-Baselines3 adds 1e-6 inside the last logarithm; here it is exact for any u.
namespace troupe {

namespace detail {

/// The bounds of the log standard deviation, as in Stable-Baselines3. No gradient flows beyond
/// them.
constexpr float min_log_std = -20.0f;
constexpr float max_log_std = 2.0f;

inline float clamp_log_std(float log_std) { return std::clamp(log_std, min_log_std, max_log_std); }

}  // namespace detail

struct squashed_actions {
  variable action;    ///< [rows, A], within -1..1
  variable log_prob;  ///< [rows, 1]
};

/// Squashes u [rows, A], which is z [rows, A] standard deviations away from its mean.
squashed_actions squash(variable u, variable z, variable log_std);

/// Draws actions from a network's outputs [rows, 2 A], the means and then the log standard
/// deviations. `noise` [rows, A] is standard normal.
squashed_actions squashed_gaussian(variable outputs, std::span<const float> noise);

/// Draws actions with state-dependent noise (state_dependent_noise.hpp) around the means [rows, A].
/// `features` [rows, H] are the inputs of the actor's last layer, `parameters` [H, A] those of the
/// noise, and `draw` [H, A] is standard normal.
squashed_actions squashed_noise(variable means, variable features, variable parameters,
                                std::span<const float> draw, bool use_expln);

}  // namespace troupe

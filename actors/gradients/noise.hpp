#pragma once
// State-dependent exploration (state_dependent_noise.hpp) as a function of a graph.

#include "actors/gradients/graph.hpp"

namespace troupe {

/// The standard deviations [H, A] of the noise matrix with these parameters.
variable noise_std(variable parameters, bool use_expln);

/// Half the logarithm of the variance of actions [rows, A], for features [rows, H].
variable noise_log_std(variable features, variable std);

}  // namespace troupe

#pragma once
// The number of environment steps that a process has taken, for messages about a run's progress.

#include <string>

#include "runtime/metrics/registry.hpp"

namespace troupe {

/// Returns how many steps training_metrics::env_stepped has counted for this environment.
double env_steps(metrics_registry& registry, const std::string& env);

}  // namespace troupe

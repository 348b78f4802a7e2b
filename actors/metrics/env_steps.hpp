#pragma once
// The numbers of environment steps and failures that a process has counted, for messages about a
// run's progress.

#include <string>

#include "runtime/metrics/registry.hpp"

namespace troupe {

/// Returns how many steps training_metrics::env_stepped has counted for this environment.
double env_steps(metrics_registry& registry, const std::string& env);

/// Returns how many failures training_metrics::env_failed has counted for this environment.
double env_failures(metrics_registry& registry, const std::string& env);

}  // namespace troupe

#pragma once
// Observers of environments that count what happens in them as metrics.

#include <string>

#include "actors/environments/hosted_environment.hpp"
#include "actors/metrics/training_metrics.hpp"

namespace troupe {

/// Observers that count the steps, episodes and failures of environments as metrics, and log some
/// of the failures. `id` names the environment in the log. The observers can be sent to another
/// process, where they count in that process's registry.
env_observers observers_of(const training_metrics& metrics, const std::string& id);

/// Returns ": " and the message of the last failure of that environment in this process, or an
/// empty text if there was none, as where its replicas are in other processes.
std::string last_failure_text(const std::string& env);

}  // namespace troupe

#pragma once
// The loops half of the OpenEnv benchmark.

#include <nlohmann/json.hpp>

namespace troupe::openenv {

/// async_over_sync: environment steps a second of loops::asynchronous over those of
/// loops::synchronous, on a server whose episodes are of very different length. Beside it what both
/// have learned (sync_return, async_return; 20 is the best), and sync_training_fraction, the share
/// of the synchronous wall time in which the trainer trained.
void measure_loops(nlohmann::json& results);

}  // namespace troupe::openenv

#pragma once
// The collectors of a run, with a replay or a table: how they are served, and what a checkpoint has
// of them.

#include <cstddef>
#include <cstdint>

#include "algorithms/off_policy/collector.hpp"
#include "algorithms/run/config.hpp"
#include "algorithms/run/run_state.hpp"
#include "algorithms/run/training_run.hpp"

namespace troupe {

/// What the file collectors.bin of a checkpoint has.
struct collectors_state {
  std::int64_t begun;  ///< The environment steps that had begun.
  std::int64_t episodes_to_log;
  replica_states replicas;
};

/// The options of a run's collectors that follow from its environment, network and seed. The update
/// rule sets the rest.
collector_options collector_options_of(training_run& in, const env_section& env,
                                       const network_shape& shape);

/// Serves so many collectors on environments of their own.
task<service<collector>> serve_run_collectors(training_run& in, const env_section& env,
                                              collector_options options, std::size_t count);

/// Gives collectors their states in a checkpoint, and returns for how many the next one waits.
/// Throws state_error for more states than collectors.
task<std::size_t> restore_collectors(training_run& in, service<collector> which,
                                     replica_states states, std::size_t count);

}  // namespace troupe

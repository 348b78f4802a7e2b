#pragma once
// PPO with checkpoints, and from one; see training_run.hpp for the segments of a run.

#include <optional>

#include "algorithms/on_policy/ppo/ppo.hpp"

namespace troupe {

using ppo_run_options = training_run_options;
using ppo_result = training_result;

/// PPO as run_training and train_in take it.
trainable trainable_of(const ppo_config& config);

/// Trains as train_ppo, on systems of its own: deterministic ones where the configuration says so.
/// Where it says checkpoint.every_updates, they are written to the run directory's `checkpoints`;
/// one that can't be written is logged and counted, and training goes on. Throws what train_ppo
/// throws, and checkpoint_mismatch if `from` is of another algorithm, environment or network.
ppo_result run_ppo(const ppo_config& config, ppo_output output, const ppo_run_options& options,
                   std::optional<checkpoint> from = std::nullopt);

/// A run that is to go on.
struct ppo_resumption {
  ppo_config config;               ///< The one stored with the run.
  std::optional<checkpoint> from;  ///< The newest good one; none: there was none yet.
};

/// Opens the run directory of an earlier run. Throws run_directory_error and config_error, and as
/// newest_checkpoint.
ppo_resumption open_ppo_run(const std::string& directory, metrics_registry& metrics);

}  // namespace troupe

#pragma once
// PPO with checkpoints, and from one.
//
// A run is a sequence of segments. Each is a system of its own, whose roles go on from a
// checkpoint, train until the next multiple of checkpoint.every_updates, come to rest and are
// saved:
//
//   new system ─> serve, restore ─> train ─> rollouts under way end ─> save ─> write to the disk
//        ^                                                              │
//        └──────────────────────────────────────────────────────────────┘
//
// A run that nobody interrupts goes on from what it has just saved, by the same steps as one that
// reads it from the disk. So in deterministic mode both end with the same weights, bit for bit.

#include <functional>
#include <memory>
#include <optional>

#include "actors/checkpoint/checkpoint_directory.hpp"
#include "algorithms/ppo/ppo.hpp"

namespace troupe {

struct ppo_run_options {
  std::size_t threads = 0;                    ///< Of the pool; 0: one a core.
  std::shared_ptr<metrics_registry> metrics;  ///< Of all segments; null: one of its own.
  /// Asked after each update and in the evaluation at the end, on any thread: true stops the run.
  /// May be null.
  std::function<bool()> stop_asked;
  ppo_callbacks callbacks;
};

/// What a run came to.
struct ppo_result {
  std::optional<ppo_summary> summary;  ///< None: it was stopped, and a checkpoint was written.
  std::string run_directory;
  std::int64_t steps = 0;
};

/// Trains as train_ppo, on systems of its own: deterministic ones where the configuration says so.
/// Where it says checkpoint.every_updates, they are written to the run directory's `checkpoints`;
/// one that can't be written is logged and counted, and training goes on. Throws what train_ppo
/// throws, call_error of kind cancelled where it is stopped without checkpoints, and
/// checkpoint_mismatch if `from` is of another algorithm, environment or network.
ppo_result run_ppo(const ppo_config& config, ppo_output output, const ppo_run_options& options,
                   std::optional<checkpoint> from = std::nullopt);

/// A run that is to go on.
struct ppo_resumption {
  ppo_config config;               ///< The one stored with the run.
  std::optional<checkpoint> from;  ///< The newest good one; none: it begins anew.
};

/// Opens the run directory of an earlier run. Damaged checkpoints are passed over, logged and
/// counted. Throws run_directory_error and config_error, checkpoint_mismatch if the newest
/// checkpoint is of another algorithm, environment or network, and std::invalid_argument if the run
/// keeps none.
ppo_resumption open_ppo_run(const std::string& directory, metrics_registry& metrics);
/// The same where the configuration has been read, maybe as another algorithm's.
ppo_resumption resume_ppo_run(const std::string& directory, ppo_config config,
                              metrics_registry& metrics);

}  // namespace troupe

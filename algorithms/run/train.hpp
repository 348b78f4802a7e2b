#pragma once
// Functions that run any algorithm: train() makes systems of its own and writes checkpoints,
// train_in() runs in a given system.
//
// A run with checkpoints is a sequence of segments. Each segment is a system of its own, whose
// roles go on from a checkpoint, train until the next multiple of checkpoint.every_updates, come to
// rest and are saved:
//
//   new system ─> serve, restore ─> train ─> rollouts under way end ─> save ─> write to the disk
//        ^                                                              │
//        └──────────────────────────────────────────────────────────────┘
//
// A segment that loses a rank of a data-parallel trainer is run again from its beginning.
//
// An uninterrupted run goes on from the state that it has just saved, by the same steps as a run
// that reads this state from the disk. So in deterministic mode both end with the same weights, bit
// for bit. A run that is asked to stop in the middle of a segment comes to rest and is saved there.
// A deterministic run is not saved there, because an uninterrupted run does not rest at that point;
// it goes on from the segment's beginning.

#include <optional>
#include <string>

#include "actors/checkpoint/checkpoint_directory.hpp"
#include "actors/recorder/run_directory.hpp"
#include "algorithms/run/run_control.hpp"  // callbacks use it
#include "algorithms/run/settings.hpp"
#include "runtime/system/system.hpp"

namespace troupe {

/// Trains on systems that it makes, deterministic ones if the settings say so. If
/// checkpoint.every_updates is above 0, it writes checkpoints to the folder `checkpoints` of the
/// run directory; a checkpoint that can't be written is logged and counted, and training goes on.
/// Throws what the run throws, checkpoint_mismatch if `from` is of another algorithm, environment
/// or network, and run_directory_error: if the directory can't be made, if another process writes
/// to output.directory, or if that has checkpoints and `from` is none.
run_result train(const algorithm& what, run_output output, const run_options& options,
                 std::optional<checkpoint> from = std::nullopt);

/// Trains the algorithm of a configuration, as above.
template <class Config>
  requires requires(const Config& config) { algorithm_with(config); }
run_result train(const Config& config, run_output output, const run_options& options,
                 std::optional<checkpoint> from = std::nullopt) {
  return train(algorithm_with(config), std::move(output), options, std::move(from));
}

/// Trains in the given system from the beginning to the end, without checkpoints: throws
/// std::invalid_argument if checkpoint.every_updates is above 0. Several runs may share a system,
/// also at once: where output.prefix is that of another run under way, the services of this one
/// begin with it and `run2_`, `run3_` and so on. Otherwise throws as train does.
task<run_summary> train_in(system& sys, algorithm what, run_output output,
                           run_callbacks callbacks = {});

/// Trains the algorithm of a configuration in the given system, as above.
template <class Config>
  requires requires(const Config& config) { algorithm_with(config); }
task<run_summary> train_in(system& sys, const Config& config, run_output output,
                           run_callbacks callbacks = {}) {
  return train_in(sys, algorithm_with(config), std::move(output), std::move(callbacks));
}

/// Returns the newest good checkpoint of a run, or none if the run has written none yet. Damaged
/// checkpoints are passed over, logged and counted. Throws checkpoint_damaged, naming each, if all
/// are damaged; checkpoint_mismatch if the checkpoint has another algorithm, environment or network
/// than `settings`, or an unknown format; std::system_error if it can't be read; and
/// std::invalid_argument if the run keeps no checkpoints.
std::optional<checkpoint> newest_checkpoint(const std::string& directory,
                                            const run_settings& settings,
                                            metrics_registry& metrics);

/// True if training ended at this checkpoint because an evaluation reached the run's present goal,
/// evaluation.stop_at. With another goal, or none, the run goes on from there to its total_steps.
bool is_at_goal(const checkpoint& from, const run_settings& settings);

/// The algorithm, environment and network that a run's checkpoints are marked with.
checkpoint_kind kind_of(const run_settings& settings);

/// Checks that the network can be made. Throws unknown_environment, and std::invalid_argument if it
/// does not fit the environment.
void require_network(const run_settings& settings);

/// Checks, before anything is made, that run directories can be made in root/algo. Throws
/// run_directory_error.
void require_run_folder(const std::string& root, const std::string& algo);

}  // namespace troupe

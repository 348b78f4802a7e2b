#pragma once
// A run of any algorithm: what goes in and what comes out, and the segments in between.
//
// A run with checkpoints is a sequence of segments. Each is a system of its own, whose roles go on
// from a checkpoint, train until the next multiple of checkpoint.every_updates, come to rest and
// are saved:
//
//   new system ─> serve, restore ─> train ─> rollouts under way end ─> save ─> write to the disk
//        ^                                                              │
//        └──────────────────────────────────────────────────────────────┘
//
// A segment that loses a rank of a data-parallel trainer is played once more, from its beginning.
//
// A run that nobody interrupts goes on from what it has just saved, by the same steps as one that
// reads it from the disk. So in deterministic mode both end with the same weights, bit for bit. A
// run that is asked to stop in the middle of a segment comes to rest and is saved there, but not in
// deterministic mode: the one that nobody stops does not rest there, so both go on from the
// segment's beginning.

#include <optional>
#include <string>

#include "actors/checkpoint/checkpoint_directory.hpp"
#include "actors/recorder/run_directory.hpp"
#include "algorithms/run/settings.hpp"
#include "runtime/system/system.hpp"

namespace troupe {

/// Trains on systems of its own: deterministic ones where the settings say so. Where they say
/// checkpoint.every_updates, checkpoints are written to the run directory's `checkpoints`; one that
/// can't be written is logged and counted, and training goes on. Throws what the run throws,
/// checkpoint_mismatch if `from` is of another algorithm, environment or network, and
/// run_directory_error, also where another process writes to output.directory, and where that has
/// checkpoints and `from` is none.
run_result train(const algorithm& what, run_output output, const run_options& options,
                 std::optional<checkpoint> from = std::nullopt);

/// The same with a configuration.
template <class Config>
  requires requires(const Config& config) { algorithm_with(config); }
run_result train(const Config& config, run_output output, const run_options& options,
                 std::optional<checkpoint> from = std::nullopt) {
  return train(algorithm_with(config), std::move(output), options, std::move(from));
}

/// Trains in one system from the beginning to the end, without checkpoints. Several runs may be
/// side by side there, each with an output.prefix of its own. Throws as train.
task<run_summary> train_in(system& sys, algorithm what, run_output output,
                           run_callbacks callbacks = {});

/// The same with a configuration.
template <class Config>
  requires requires(const Config& config) { algorithm_with(config); }
task<run_summary> train_in(system& sys, const Config& config, run_output output,
                           run_callbacks callbacks = {}) {
  return train_in(sys, algorithm_with(config), std::move(output), std::move(callbacks));
}

/// The newest good checkpoint of a run; none: it has written none yet and begins anew. Damaged ones
/// are passed over, logged and counted. Throws checkpoint_damaged naming each where all are,
/// checkpoint_mismatch if it is of another algorithm, environment or network than `settings` say or
/// of an unknown format, std::system_error if it can't be read, and std::invalid_argument if the
/// run keeps none.
std::optional<checkpoint> newest_checkpoint(const std::string& directory,
                                            const run_settings& settings,
                                            metrics_registry& metrics);

/// Whether training has ended there because an evaluation reached the goal that the run has now,
/// evaluation.stop_at. With another goal, or none, it goes on from there to its total_steps.
bool is_at_goal(const checkpoint& from, const run_settings& settings);

/// What the checkpoints of such a run are of.
checkpoint_kind kind_of(const run_settings& settings);

/// Throws unknown_environment, and std::invalid_argument if the algorithm's network does not fit
/// the environment.
void require_network(const run_settings& settings);

/// Finds out before anything is made whether a run directory can be: throws run_directory_error.
void require_run_folder(const std::string& root, const std::string& algo);

}  // namespace troupe

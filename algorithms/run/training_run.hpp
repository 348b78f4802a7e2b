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

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/checkpoint/checkpoint_directory.hpp"
#include "actors/evaluator/evaluator.hpp"
#include "actors/recorder/held_run.hpp"
#include "actors/recorder/run_words.hpp"
#include "algorithms/loops/evaluations.hpp"
#include "algorithms/run/config.hpp"
#include "algorithms/run/option_rules.hpp"
#include "runtime/service/fault_plan.hpp"

namespace troupe {

class metrics_registry;
class system;
class trace;
class training_cast;

/// What a run leaves on the screen and on the disk.
struct training_output {
  std::string root = "runs";  ///< The run directory is root/ALGO/ENV_k.
  std::string directory;      ///< Where not empty, the run directory: a run that goes on in it.
  bool table = false;         ///< Stable-Baselines3's table on stdout, after each update.
  bool progress_bar = false;  ///< On stderr.
  int metrics_port = 0;       ///< For the summary alone.
  std::int64_t resumed_from_step = 0;  ///< The same.
  /// Of `directory`, where the caller holds it already; else the run takes it.
  std::shared_ptr<const run_lock> lock = nullptr;
};

/// How a run went. The names are those of summary.json.
struct training_summary {
  std::string algo;
  std::string env;
  training_mode mode = training_mode::sync;
  std::uint64_t seed = 0;
  std::int64_t steps = 0;  ///< Environment steps trained on.
  double start_s = 0;      ///< Of warm start and first evaluation, before the first rollout.
  double wall_s = 0;       ///< From the first rollout to the last update.
  double cpu_s = 0;        ///< Of the whole process, until the end of the final evaluation.
  double steps_per_s = 0;  ///< steps / wall_s; 0 in virtual time
  double eval_mean = 0;
  double eval_std = 0;
  std::int64_t eval_episodes = 0;
  bool solved = false;  ///< eval_mean reached the environment's reward threshold.
  std::optional<double> reward_threshold;  ///< None: the environment names none.
  bool stopped = false;  ///< A callback, or evaluation.stop_at, ended training before total_steps.
  std::int64_t rollouts_failed = 0;  ///< They ended with an error, and were generated anew.
  double staleness_mean = 0;
  std::int64_t staleness_max = 0;
  std::int64_t stale_dropped = 0;  ///< Rollouts or groups that were too stale to be trained on.
  /// Their mean length: of groups the mean length of an answer in tokens, of rollouts 0.
  double stale_dropped_length = 0;
  double overlap_fraction = 0;  ///< Share of wall_s in which rollouts and training both ran.
  int metrics_port = 0;
  std::int64_t resumed_from_step = 0;  ///< Of the checkpoint this process began with; 0: none.
  std::string weights_sha256;
  std::string run_directory;

  std::string to_json() const;  ///< One line.
};

/// What every algorithm's configuration says, and what the parts of a run need of the rest.
struct training_settings {
  std::string algo;  ///< "ppo"
  env_section env;
  std::uint64_t seed = 1;
  training_mode mode = training_mode::sync;
  evaluation_section evaluation;
  checkpoint_section checkpoint;
  bool deterministic = false;
  fault_plan faults;
  network_options network;  ///< As the evaluator and the model file need it.
  /// What the network is, for checkpoints, where it is none of these options on an environment:
  /// env.id is then no environment's.
  std::string model = {};
  /// No episode is played on an environment: language models answer problems.
  bool without_environment = false;
  std::int64_t updates = 0;            ///< Of the whole run.
  std::int64_t total_steps = 0;        ///< Environment steps of the whole run.
  run_words words = {};                ///< What these are called, and how good the run is.
  std::string config;                  ///< The resolved configuration, as JSON.
  std::size_t threads = 0;             ///< That its roles can use at once; 0: any number.
  std::vector<idle_option> idle = {};  ///< Told when a run begins.
};

/// What a user adds to a run. All of it runs on the loop's own actor, and what it refers to
/// outlives the run. Everything counts from the run's beginning, whether or not the run was
/// resumed.
struct training_callbacks {
  /// Asked after each update, and after the evaluation that is then due; a verdict of `stop` ends
  /// training, the evaluation at the end follows. Several: loops::in_turn. May be null.
  loops::callback called = nullptr;
  /// Told each evaluation during training, in which the weights of now.version played. May be null.
  std::function<task<>(loops::progress now, evaluation seen)> evaluated = nullptr;
  /// Looked at after each of those; true ends training: `{loops::score_reached(475)}`.
  std::vector<loops::stop_rule> stop = {};
  /// What the above keep between updates, for checkpoints; and how they go on from it, before the
  /// first update. Both or none.
  std::function<std::string()> save = nullptr;
  std::function<void(const std::string&)> restore = nullptr;
};

struct training_run_options {
  std::size_t threads = 0;  ///< Of the pool; 0: what the algorithm can use, at most one a core.
  std::string listen;       ///< Where nodes join, HOST:PORT with a fixed port; empty: nowhere.
  std::string certs;        ///< See system_options.
  std::string join_secret;  ///< The same.
  std::size_t nodes = 0;    ///< To wait for before anything is trained.
  std::shared_ptr<metrics_registry> metrics;  ///< Of all segments; null: one of its own.
  std::shared_ptr<class trace> trace;         ///< Of all segments; null: none.
  /// Asked after each update, in a warm start and in evaluations, and without checkpoints all the
  /// time, on any thread: true stops the run, and it stays true then. An evaluation between updates
  /// that is ended so is played when the run goes on. May be null.
  std::function<bool()> stop_asked;
  training_callbacks callbacks;
};

/// What a run came to.
struct training_result {
  /// None: it was stopped. Its last model is that of this moment, and with checkpoints there is
  /// one, if they could be written.
  std::optional<training_summary> summary;
  /// Empty: it was stopped before there was a model, or with checkpoints before there was a
  /// directory.
  std::string run_directory;
  std::int64_t steps = 0;  ///< Trained on; of a stopped run with checkpoints, up to the newest.
  std::int64_t saved_steps = 0;  ///< Of the newest checkpoint on the disk; 0: there is none.
  /// What it should have left and could not be written: models, summary.json, the last checkpoint
  /// of a run that has ended.
  std::vector<std::filesystem::path> unwritten = {};
};

/// An algorithm with its configuration: all that a run takes.
struct trainable {
  training_settings settings;
  /// Makes its cast in a system.
  std::function<std::unique_ptr<training_cast>(system& sys, training_output output,
                                               training_callbacks callbacks)>
      make;
  /// Throws unknown_environment, and std::invalid_argument if it does not fit the environment or
  /// the machine. Called before anything is made.
  std::function<void()> check;
};

/// Trains on systems of its own: deterministic ones where the settings say so. Where they say
/// checkpoint.every_updates, checkpoints are written to the run directory's `checkpoints`; one that
/// can't be written is logged and counted, and training goes on. Throws what the cast throws,
/// checkpoint_mismatch if `from` is of another algorithm, environment or network, and
/// run_directory_error, also where another process writes to output.directory, and where that has
/// checkpoints and `from` is none.
training_result run_training(const trainable& what, training_output output,
                             const training_run_options& options,
                             std::optional<checkpoint> from = std::nullopt);

/// Trains in one system from the beginning to the end, without checkpoints. Throws as run_training.
task<training_summary> train_in(system& sys, trainable what, training_output output,
                                training_callbacks callbacks = {});

/// The newest good checkpoint of a run; none: it has written none yet and begins anew. Damaged ones
/// are passed over, logged and counted. Throws checkpoint_damaged naming each where all are,
/// checkpoint_mismatch if it is of another algorithm, environment or network than `settings` say or
/// of an unknown format, std::system_error if it can't be read, and std::invalid_argument if the
/// run keeps none.
std::optional<checkpoint> newest_checkpoint(const std::string& directory,
                                            const training_settings& settings,
                                            metrics_registry& metrics);

/// Whether training has ended there because an evaluation reached the goal that the run has now,
/// evaluation.stop_at. With another goal, or none, it goes on from there to its total_steps.
bool is_at_goal(const checkpoint& from, const training_settings& settings);

/// What the checkpoints of such a run are of.
checkpoint_kind kind_of(const training_settings& settings);

/// Throws unknown_environment, and std::invalid_argument if the algorithm's network does not fit
/// the environment.
void require_network(const training_settings& settings);

/// Finds out before anything is made whether a run directory can be: throws run_directory_error.
void require_run_folder(const std::string& root, const std::string& algo);

}  // namespace troupe

#pragma once
// What goes into a run of any algorithm, and what comes out of it.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/evaluator/evaluator.hpp"
#include "actors/recorder/held_run.hpp"
#include "actors/recorder/run_words.hpp"
#include "algorithms/loops/evaluations.hpp"
#include "algorithms/run/config.hpp"
#include "algorithms/run/option_rules.hpp"
#include "runtime/service/options/fault_plan.hpp"

namespace troupe {

class metrics_registry;
class run_control;
class trace;
class training_run;

namespace detail {
class running_algorithm;
}

/// What a run leaves on the screen and on the disk.
struct run_output {
  std::string root = "runs";  ///< The run directory is root/ALGO/ENV_k.
  std::string prefix;         ///< Before the names of its services; for one of several in a system.
  std::string directory;      ///< Where not empty, the run directory: a run that goes on in it.
  bool table = false;         ///< Stable-Baselines3's table on stdout, after each update.
  bool progress_bar = false;  ///< On stderr.
  int metrics_port = 0;       ///< For the summary alone.
  std::int64_t resumed_from_step = 0;  ///< The same.
  /// Of `directory`, where the caller holds it already; else the run takes it.
  std::shared_ptr<const run_lock> lock = nullptr;
};

/// How a run went. The names are those of summary.json.
struct run_summary {
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
struct run_settings {
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
struct run_callbacks {
  /// Asked after each update, and after the evaluation that is then due; a verdict of `stop` ends
  /// training, the evaluation at the end follows. Several: loops::in_turn. May be null.
  loops::callback called = nullptr;
  /// Called after each update, before the evaluation that is then due and before the update's row
  /// is written: reads and sets the learning rate, records values of its own, sees the actions
  /// (run_control.hpp). A verdict of `stop` ends training, as above. May be null.
  std::function<task<loops::verdict>(loops::progress now, run_control& control)> on_update =
      nullptr;
  /// Told each evaluation during training, in which the weights of now.version played. May be null.
  std::function<task<>(loops::progress now, evaluation seen)> evaluated = nullptr;
  /// Looked at after each of those; true ends training: `{loops::score_reached(475)}`.
  std::vector<loops::stop_rule> stop = {};
  /// What the above keep between updates, for checkpoints; and how they go on from it, before the
  /// first update. Both or none.
  std::function<std::string()> save = nullptr;
  std::function<void(const std::string&)> restore = nullptr;
};

struct run_options {
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
  run_callbacks callbacks;
};

/// What a run came to.
struct run_result {
  /// None: it was stopped. Its last model is that of this moment, and with checkpoints there is
  /// one, if they could be written.
  std::optional<run_summary> summary;
  /// Empty: it was stopped before there was a model, or with checkpoints before there was a
  /// directory.
  std::string run_directory;
  std::int64_t steps = 0;  ///< Trained on; of a stopped run with checkpoints, up to the newest.
  std::int64_t saved_steps = 0;  ///< Of the newest checkpoint on the disk; 0: there is none.
  /// What it should have left and could not be written: models, summary.json, the last checkpoint
  /// of a run that has ended.
  std::vector<std::filesystem::path> unwritten = {};
};

/// An algorithm with its configuration: all that a run takes. See algorithm.hpp.
struct algorithm {
  run_settings settings;
  /// Makes the algorithm in a run.
  std::function<std::unique_ptr<detail::running_algorithm>(training_run& in)> make;
  /// Throws unknown_environment, and std::invalid_argument if it does not fit the environment or
  /// the machine. Called before anything is made.
  std::function<void()> check;
};

}  // namespace troupe

#pragma once
// The inputs of a run of any algorithm (algorithm, run_output, run_options) and its results
// (run_summary, run_result). Callers of train() and train_in() in train.hpp use them.

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/evaluator/evaluator.hpp"
#include "actors/recorder/held_run.hpp"
#include "actors/recorder/run_labels.hpp"
#include "algorithms/loops/evaluations.hpp"
#include "algorithms/run/config.hpp"
#include "runtime/base/error.hpp"
#include "runtime/config/config.hpp"
#include "runtime/service/options/fault_plan.hpp"

namespace troupe {

class metrics_registry;
class run_control;
struct initial_model;
struct saved_model;
class trace;
class training_run;

namespace detail {
class running_algorithm;
}

/// The place where a run writes its files, and the output that it prints.
struct run_output {
  std::string root = "runs";  ///< The run directory is root/ALGO/ENV_k.
  /// The names of the run's services begin with it. Of several runs at once in one system, those
  /// that have the same prefix get a number, too.
  std::string prefix = {};
  /// An existing run directory in which the run goes on. Empty means a new one is made.
  std::string directory = {};
  bool table = false;            ///< Print Stable-Baselines3's table on stdout after each update.
  bool table_to_stderr = false;  ///< Print the table on stderr instead.
  bool progress_bar = false;     ///< Print a progress bar on stderr.
  int metrics_port = 0;          ///< Copied into the summary; the run does not use it.
  /// The environment step of the checkpoint that the run goes on from, for the summary. 0 means
  /// the run begins anew. train() sets it.
  std::int64_t resumed_from_step = 0;
  /// The lock of `directory`, if the caller holds it already. Null means the run takes it.
  std::shared_ptr<const run_lock> lock = nullptr;
};

/// How a run went. The members have the names of summary.json's keys.
struct run_summary {
  std::string algo;
  std::string env;
  training_mode mode = training_mode::sync;
  std::uint64_t seed = 0;
  std::int64_t steps = 0;  ///< Environment steps trained on.
  double start_s = 0;      ///< Seconds of warm start and first evaluation, before any rollout.
  double wall_s = 0;       ///< Seconds from the first rollout to the last update.
  double cpu_s = 0;        ///< CPU seconds of the whole process until the final evaluation ended.
  double steps_per_s = 0;  ///< steps / wall_s; 0 in virtual time.
  double eval_mean = 0;    ///< The mean return of the final evaluation.
  double eval_std = 0;     ///< The standard deviation of its returns.
  std::int64_t eval_episodes = 0;  ///< The number of its episodes.
  /// The mean return of each agent, by name, if there are several.
  std::vector<std::pair<std::string, double>> eval_agents;
  bool solved = false;  ///< eval_mean reached the environment's reward threshold.
  std::optional<double> reward_threshold;  ///< None if the environment names no threshold.
  bool stopped = false;  ///< A callback, or one of the options below, ended training.
  /// What ended training: evaluation.stop_at, env.curriculum.stop_when_mastered,
  /// env.schedule.stop_when_learned or callback. Empty if `stopped` is false.
  std::string stop_reason;
  std::int64_t rollouts_failed = 0;  ///< Rollouts that ended with an error and were made again.
  double staleness_mean = 0;         ///< Mean age in versions of what was trained on.
  std::int64_t staleness_max = 0;    ///< The largest such age.
  std::int64_t stale_dropped = 0;    ///< Rollouts or groups that were too stale to be trained on.
  /// For dropped groups of a language model, the mean length of their answers in tokens; for
  /// dropped rollouts 0.
  double stale_dropped_length = 0;
  double overlap_fraction = 0;  ///< Share of wall_s in which rollouts and training both ran.
  int metrics_port = 0;         ///< A copy of run_output::metrics_port.
  /// The step of the checkpoint that this process began with; 0 means there was none.
  std::int64_t resumed_from_step = 0;
  std::string weights_sha256;  ///< The SHA-256 of the last weights.
  std::string run_directory;   ///< The path of the run directory.

  std::string to_json() const;  ///< The summary as JSON on one line.
};

/// The settings that a run takes from the configuration of any algorithm.
struct run_settings {
  std::string algo;  ///< The name of the algorithm, such as "ppo".
  env_section env;
  std::uint64_t seed = 1;
  training_mode mode = training_mode::sync;
  evaluation_section evaluation;
  checkpoint_section checkpoint;
  bool deterministic = false;
  fault_plan faults;
  network_options network;  ///< The network that the evaluator plays with and model files hold.
  /// Returns the shape of that network for the environment. Null means shape_of; an algorithm for
  /// several agents has the shape of its policies. Throws std::invalid_argument.
  std::function<network_shape(const env_spec&)> shape = nullptr;
  /// The language model's name, by which checkpoints recognise it. Empty means the network is
  /// `network` on the environment env.id; otherwise env.id names no environment.
  std::string model = {};
  /// True for language models that answer problems: no episode is played on an environment.
  bool without_environment = false;
  std::int64_t updates = 0;      ///< The number of updates of the whole run.
  std::int64_t total_steps = 0;  ///< The number of environment steps of the whole run.
  /// The number of environment steps over which schedules run; 0 means total_steps.
  std::int64_t schedule_steps = 0;
  run_labels labels = {};   ///< The words for steps, episodes and scores in output.
  std::string config;       ///< The resolved configuration, as JSON.
  std::size_t threads = 0;  ///< How many threads its roles can use at once; 0 means any number.
  /// The options whose product is the number of environment steps of an update, such as
  /// "rollout.n_steps * env.n_envs"; empty if total_steps is no number of such steps.
  std::string update_options = {};
  std::int64_t steps_of_update = 0;  ///< That number.
  /// The number of replicas of the environments that are used at once, and the option that says so;
  /// 0 if that is not known.
  std::int64_t replicas_at_once = 0;
  std::string replicas_option = {};
  std::vector<idle_option> idle = {};  ///< Options without effect; a run logs them when it begins.
  /// The model whose weights a new run begins with (initial_model.hpp). Null means random weights.
  std::shared_ptr<const initial_model> init = nullptr;
};

/// Returns the settings that a configuration has. `resolved` is the whole configuration as JSON.
/// Throws fault_plan_error.
run_settings settings_of(const run_config& config, std::string resolved);

/// Returns the shape of a run's network for the environment.
network_shape shape_for(const run_settings& settings, const env_spec& spec);

/// The functions that a user adds to a run. They run on the loop's own actor, and everything they
/// refer to must outlive the run. Progress counts from the run's beginning, whether or not the run
/// was resumed.
struct run_callbacks {
  /// Called after each update, and after the evaluation that is then due. A verdict of `stop` ends
  /// training; the evaluation at the end follows. loops::in_turn combines several callbacks. May be
  /// null.
  loops::callback on_update_end = nullptr;
  /// Called after each update, before the evaluation that is then due and before the update's row
  /// is written. It may read and set the learning rate, record values of its own and read the
  /// actions (run_control.hpp). A verdict of `stop` ends training, as above. May be null.
  std::function<task<loops::verdict>(loops::progress now, run_control& control)> on_update =
      nullptr;
  /// Called after each evaluation during training, in which the weights of now.version played. May
  /// be null.
  std::function<task<>(loops::progress now, evaluation seen)> on_evaluation = nullptr;
  /// Rules that are asked after each evaluation during training, such as
  /// `{loops::score_reached(475)}`. Training ends if one returns true.
  std::vector<loops::stop_rule> stop = {};
  /// `save` returns the state of the functions above for a checkpoint; `restore` takes it back
  /// before the first update of a run that goes on. Set both or neither.
  std::function<std::string()> save = nullptr;
  std::function<void(const std::string&)> restore = nullptr;
};

struct run_result;

/// How train() runs: on which system, with which metrics, and how it is stopped.
struct run_options {
  /// Threads of the pool. 0 means as many as the algorithm can use, at most one a core.
  std::size_t threads = 0;
  std::string listen = {};  ///< HOST:PORT, with a fixed port, where nodes join; empty means none.
  std::string certs = {};   ///< See system_options::certs.
  std::string join_secret = {};  ///< See system_options::join_secret.
  std::size_t nodes = 0;         ///< How many nodes the run waits for before it trains.
  /// Metrics of all segments; null means a new registry.
  std::shared_ptr<metrics_registry> metrics = {};
  std::shared_ptr<class trace> trace = {};  ///< The trace of all segments; null means no trace.
  /// The longest time, > 0, from `stop_asked` to the end of train(). An update under way that needs
  /// longer is given up: last_model gets the weights from before it, and a run that goes on repeats
  /// it. A deterministic run doesn't give up an update, since its result would depend on the time.
  duration stop_limit = std::chrono::seconds(10);
  /// Returns true to stop the run, and must return true from then on. It is called on any thread:
  /// after each update, during a warm start and during evaluations. A run without checkpoints that
  /// is not deterministic calls it every 50 ms, too. If it stops an evaluation between updates,
  /// that evaluation is played when the run goes on. May be null.
  std::function<bool()> stop_asked = {};
  /// Called with the result before the system ends, which a thread that never comes back from an
  /// environment makes the end of the process. May be null.
  std::function<void(const run_result& result)> on_result = {};
  /// Called with the error of a failed run before the system ends, for the same reason. train()
  /// throws the error afterwards, if it returns. It is called for errors that end the run while
  /// roles are served. May be null.
  std::function<void(const call_error& error)> on_error = {};
  run_callbacks callbacks = {};
};

/// The result of train().
struct run_result {
  /// None if the run was stopped. The last model of a stopped run has the weights of that moment,
  /// and a run with checkpoints has one of that moment, if the disk took them.
  std::optional<run_summary> summary;
  /// The path of the run directory. Empty if the run was stopped before there was a model or, with
  /// checkpoints, before there was a directory.
  std::string run_directory;
  /// Environment steps trained on. For a stopped run with checkpoints, the steps up to its newest
  /// state.
  std::int64_t steps = 0;
  std::int64_t saved_steps = 0;  ///< The step of the newest checkpoint on the disk; 0 means none.
  /// The files that the run should have left and could not write: models, summary.json, the last
  /// checkpoint of a run that has ended.
  std::vector<std::filesystem::path> unwritten = {};
};

/// An algorithm with its configuration, which is all that a run needs. See algorithm.hpp.
struct algorithm {
  run_settings settings;
  /// Constructs the algorithm for the run `in`.
  std::function<std::unique_ptr<detail::running_algorithm>(training_run& in)> make;
  /// Checks the configuration before anything is made. Throws unknown_environment, and
  /// std::invalid_argument if the algorithm does not fit the environment or the machine.
  std::function<void()> check;
  /// Checks that the learner can begin with a model whose acting network fits. Throws
  /// std::invalid_argument. Null means that it can.
  std::function<void(const saved_model&)> check_model = nullptr;
  /// Reads the language model that a new run begins with to its end, and throws for one that is
  /// damaged or has a weight that is not finite. Null if the run begins with no such model.
  std::function<void()> check_weights = nullptr;
  /// Makes the learner for a network of that shape and a random batch of its kind, and returns a
  /// function that makes an update with them. `seed` is that of the batch. `check-rule` calls it.
  /// Null means that the algorithm has no such learner.
  std::function<std::function<void()>(const network_shape& shape, std::uint64_t seed)> make_update =
      nullptr;
};

}  // namespace troupe

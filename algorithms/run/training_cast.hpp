#pragma once
// The roles that are in the cast of every algorithm, and what is done with them.

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "actors/env/hosted_environment.hpp"
#include "actors/evaluator/evaluator.hpp"
#include "actors/recorder/recorder.hpp"
#include "actors/replay/replay_queue.hpp"
#include "actors/training_metrics.hpp"
#include "actors/weights/weight_store.hpp"
#include "algorithms/loops/loops.hpp"
#include "algorithms/run/training_run.hpp"
#include "runtime/system.hpp"

namespace troupe {

/// How far a run has come.
struct training_progress {
  std::int64_t version = 0;     ///< Of the weights in use: updates done.
  std::int64_t steps = 0;       ///< Environment steps trained on.
  std::int64_t episodes = 0;    ///< Rollouts that the loop generated.
  std::int64_t failed = 0;      ///< Rollouts that ended with an error.
  loops::score_history scores;  ///< The means of the evaluations, each over as many episodes.
  std::int64_t evaluated = -1;  ///< Version of the weights that the latest of these was of.
  std::int64_t owed = 0;        ///< Steps of the last update if a stop has ended its evaluation.
  bool stopped = false;         ///< A callback or a stop rule has ended training.
  bool at_goal = false;         ///< An evaluation has reached evaluation.stop_at.
  double start = 0;             ///< Seconds of warm start and first evaluation.
  double wall = 0;              ///< Seconds in the loop.
  double overlapped = 0;        ///< Seconds in which rollouts and training both ran.

  /// Training has ended, however many steps are left.
  bool over() const { return stopped || at_goal; }
};

/// Whether the latest evaluation reaches evaluation.stop_at.
bool reaches_goal(const loops::score_history& scores, const evaluation_section& of);

/// The cast of a run: an algorithm adds its own services, and says how they train. It outlives all
/// of its coroutines, which share it. Algorithms that learn on environments derive theirs from
/// environment_cast.
class training_cast {
 public:
  training_cast(system& sys, training_settings settings, training_output output,
                training_callbacks callbacks);
  training_cast(const training_cast&) = delete;
  virtual ~training_cast() = default;

  /// Serves every role. Where `from` is given, all of them go on from it: in `output.directory`,
  /// else in a new run directory. Throws state_error if `from` is of another configuration, and
  /// call_error of kind cancelled if it is asked to stop meanwhile.
  virtual task<> serve(const checkpoint* from) = 0;
  /// Trains until the weights have that version, or until it is asked to stop. `drain`: rollouts
  /// under way end before this returns, so that the cast can be saved. Throws call_error of kind
  /// cancelled if it is asked to stop before there is anything to save.
  virtual task<> train_until(std::int64_t version, bool drain) = 0;
  /// The state of every role, each of which is at rest.
  virtual task<checkpoint> save() = 0;
  /// The evaluation at the end, and all that a run leaves behind. Throws evaluation_error, and
  /// call_error of kind cancelled if it is asked to stop meanwhile.
  virtual task<training_summary> conclude() = 0;

  /// The newest weights, also where the store has not been given them yet.
  virtual task<weights> newest();
  /// How good these weights, the newest, are during training. `seed` decides what is played, where
  /// that is drawn.
  virtual task<evaluation> evaluate(weights of, std::size_t episodes, std::uint64_t seed) = 0;
  /// Writes them as a model of the run, with the score that it is kept for, if any. Throws where
  /// the disk is full or gone.
  virtual void write_model(const std::filesystem::path& path, const weights& of,
                           std::optional<double> score) const = 0;
  /// The score of the model at `path`, if it has one. Throws where it can't be read.
  virtual std::optional<double> kept_score(const std::filesystem::path& path) const = 0;
  /// What an evaluation has to reach for the run to count as solved, if anything.
  virtual std::optional<double> threshold() const = 0;

  system& sys;
  const training_settings settings;
  const training_output output;
  const training_callbacks callbacks;
  const training_metrics metrics;

  service<weight_store> store;
  service<recorder> records;
  run_directory directory = run_directory::open(".");
  std::shared_ptr<const run_lock> lock;  ///< Of `directory`.

  training_progress done;
  std::set<std::filesystem::path> unwritten;  ///< Results that the disk has not taken.
  /// See training_run_options. May be null.
  std::function<bool()> stop_asked;

 protected:
  template <class Role>
  void stop(const service<Role>& which) {
    if (which) sys.stop(which);
  }
};

/// The cast of a run that learns on an environment.
class environment_cast : public training_cast {
 public:
  environment_cast(system& sys, training_settings settings, training_output output,
                   training_callbacks callbacks);

  task<evaluation> evaluate(weights of, std::size_t episodes, std::uint64_t seed) override;
  void write_model(const std::filesystem::path& path, const weights& of,
                   std::optional<double> score) const override;
  std::optional<double> kept_score(const std::filesystem::path& path) const override;
  std::optional<double> threshold() const override { return spec.reward_threshold; }

  const env_spec spec;
  const network_shape shape;
  service<evaluator> judge;
};

/// The deadline of calls that compute or wait for as long as the work takes, however slow the cores
/// are: updates, evaluations, collections, and admission between updates. Only a call that is stuck
/// passes it, and the run ends with its error.
inline constexpr duration long_call = std::chrono::hours(24);

/// Options of a role that may die at any moment: a call that is lost with it is made again, if it
/// is one of the `idempotent`. Injected faults say nothing about a role or a call, so none is given
/// up for them.
serve_options restartable(const system& sys, serve_options options,
                          std::vector<const endpoint_info*> idempotent);

/// What these environments do, as metrics; some of their failures are logged.
env_observers observers_of(const training_metrics& metrics, const std::string& id);

/// Of environments that evaluations play on: a thread of their own where training's have one, as
/// theirs may block. Else the pool.
placement place_of_evaluation(const env_section& env);

/// Serves the recorder and opens the run directory.
task<> serve_recorder(training_cast& cast, const checkpoint* from);
/// Of evaluations of so many episodes.
evaluator_options evaluator_of(const environment_cast& cast, int episodes);
/// Each evaluation has a seed of its own, so there is nothing to restore.
task<> serve_evaluator(environment_cast& cast);

/// The seed of what can't be saved: another one after each checkpoint.
std::uint64_t seed_of_segment(const training_cast& cast, std::string_view use);

/// Whether the run is asked to stop.
bool is_stop_asked(const training_cast& cast);
/// Throws call_error of kind cancelled if it is.
void require_no_stop(const training_cast& cast);
/// An evaluation that a stop may end; it then throws call_error of kind cancelled.
task<evaluation> unless_stopped(const training_cast& cast, task<evaluation> measuring);

/// Serves, trains and concludes. Throws call_error of kind cancelled if it is asked to stop. Where
/// training fails the model of that moment is kept.
task<training_summary> run_from_the_start(training_cast& cast);

/// Writes these weights as the run's last model. A disk that is full or gone does not end training:
/// that is logged, and the model is one of what is unwritten.
void keep_last_model(training_cast& cast, const weights& last);

/// The weights of now as the run's last model, also in the middle of an update. Where they can't be
/// had that is logged.
task<> keep_model_of_now(training_cast& cast);

/// What a cast does after each update of a loop that began at `before`: evaluates if another
/// evaluation.every_steps have passed, keeps the best model, and asks who may end the loop. Where a
/// stop ends the evaluation, that and the callback are owed.
task<loops::verdict> after_update(training_cast& cast, const training_progress& before,
                                  loops::progress now);
/// Both, when the run goes on.
task<> make_up_for_stop(training_cast& cast);
/// An evaluation of the newest weights during training: it is recorded, its model kept if it is the
/// best so far, and who looks at it may end training. None where a stop ends it, or where it fails,
/// which is logged.
task<std::optional<evaluation>> evaluate_and_judge(training_cast& cast, loops::progress now);
/// Gives the recorder an evaluation of the weights after `cast.done.steps`.
task<> record_evaluation(const training_cast& cast, evaluation seen);
/// What is left of the run, for schedules, as Stable-Baselines3 counts it: 1 - num_timesteps /
/// total_timesteps, after the steps that are trained on now have been counted. So three updates
/// take 2/3, 1/3 and 0 of what falls linearly.
double progress_remaining(const training_cast& cast);
/// Adds what the loop has done.
void add_report(training_progress& done, const loops::report& report);

/// A summary with all that is known of the cast itself, and of its evaluation at the end.
training_summary summary_of(const training_cast& cast, const evaluation& final,
                            const weights& newest);
/// What a run's replay has seen, as the summary tells it.
void tell_staleness(training_summary& summary, const replay_counts& seen);
/// Records the evaluation at the end and the summary. The best model is the one with the best mean
/// among evaluations of evaluation.episodes episodes: the last weights get such an evaluation, too,
/// if they have had none, because a mean of final_episodes can't be compared with the largest of
/// many means of fewer. What of all this the disk has not taken is unwritten.
task<> finish_run(training_cast& cast, evaluation final, weights newest, training_summary summary);

}  // namespace troupe

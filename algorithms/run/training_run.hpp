#pragma once
// One run in a system: it serves the roles that every algorithm has, trains, evaluates, saves and
// concludes. Algorithms serve their own roles through it; train() drives it.

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/checkpoint/checkpoint_directory.hpp"
#include "actors/evaluator/evaluator.hpp"
#include "actors/metrics/training_metrics.hpp"
#include "actors/recorder/recorder.hpp"
#include "actors/replay/replay_queue.hpp"
#include "actors/weights/weight_store.hpp"
#include "algorithms/loops/loops.hpp"
#include "algorithms/run/run_control.hpp"
#include "algorithms/run/settings.hpp"
#include "algorithms/run/task_selector.hpp"
#include "runtime/system/system.hpp"

namespace troupe {

/// How far a run has come.
struct run_progress {
  std::int64_t version = 0;     ///< The version of the weights in use: the number of updates.
  std::int64_t steps = 0;       ///< The environment steps trained on.
  std::int64_t episodes = 0;    ///< The rollouts that the loop generated.
  std::int64_t failed = 0;      ///< The rollouts that ended with an error.
  loops::score_history scores;  ///< The means of the evaluations during training.
  std::int64_t evaluated = -1;  ///< The weights' version in the latest evaluation; -1 means none.
  std::int64_t owed = 0;  ///< Steps of the last update, if a stop ended its evaluation; else 0.
  bool stopped = false;   ///< A callback or a stop rule has ended training.
  bool at_goal = false;   ///< An evaluation has reached evaluation.stop_at.
  double start = 0;       ///< Seconds of warm start and first evaluation.
  double wall = 0;        ///< Seconds in the loop, and between its parts for checkpoints.
  double overlapped = 0;  ///< Seconds in which rollouts and training both ran.

  /// True if training has ended, however many steps are left.
  bool over() const { return stopped || at_goal; }
};

/// True if the latest evaluation reaches evaluation.stop_at.
bool reaches_goal(const loops::score_history& scores, const evaluation_section& of);

/// The deadline of calls that take as long as the work takes, however slow the cores are: updates,
/// evaluations, collections, and admission between updates. Only a call that is stuck exceeds it;
/// the run then ends with that call's error.
inline constexpr duration long_call = std::chrono::hours(24);

/// A run of any algorithm (algorithm.hpp). It serves the weight store and the recorder; the
/// algorithm serves its own roles through it. It outlives all of its coroutines, which share it.
class training_run {
 public:
  /// `what.make` makes the algorithm; if it is null, the run can't train. Throws
  /// unknown_environment, and everything that the algorithm's constructor throws.
  training_run(system& sys, const algorithm& what, run_output output, run_callbacks callbacks,
               std::function<bool()> stop_asked = nullptr);
  /// Stops the services that the run served, the latest first.
  ~training_run();
  training_run(const training_run&) = delete;

  /// Serves a role until the run ends. Its name gets the run's prefix. A call that is lost with a
  /// replica is made again if its endpoint is one of options.idempotent. If the run injects faults,
  /// no replica and no call is given up, since injected faults say nothing about a role or a call.
  template <class Role, class... A>
  task<service<Role>> serve(serve_options options, A... args) {
    options = prepared(std::move(options));
    auto served = co_await sys.serve<Role>(std::move(options), std::move(args)...);
    to_stop_.push_back([this, served] { sys.stop(served); });
    co_return served;
  }

  /// The algorithm calls this once its environments are served or restored. It tells their replicas
  /// the level or the tasks that they practise (task_selector.hpp), and the options and attributes
  /// that callbacks set (run_control.hpp).
  template <class Role>
  task<> practise_on(service<Role> environments, std::size_t replicas) {
    const auto telling = [environments](auto options, auto attrs) {
      return tell(environments, std::move(options), std::move(attrs));
    };
    co_await control.use(telling);
    if (!task_selector_) co_return;
    task_selector_->use(environments, replicas);
    co_await task_selector_->tell();
  }
  /// True if the environments practise levels or tasks.
  bool selects_tasks() const { return task_selector_.has_value(); }
  /// Grades the episodes that have ended and tells the environments what to practise next. Called
  /// before each update.
  task<> practise();

  /// Serves every role. With a checkpoint `from`, the roles go on from it in `output.directory`;
  /// if that is empty, in a new run directory. Throws state_error if `from` has another
  /// configuration, and call_error of kind cancelled if the run is asked to stop meanwhile.
  task<> serve_roles(const checkpoint* from);
  /// True once all roles are served.
  bool serves() const { return serves_; }
  /// Serves the weight store, without the other roles.
  task<> serve_weight_store(const checkpoint* from);
  /// Trains until the weights have that version, or until the run is asked to stop. With `drain`,
  /// rollouts under way end before this returns, so that the run can be saved. Throws call_error of
  /// kind cancelled if the run is asked to stop before there is anything to save.
  task<> train_until(std::int64_t version, bool drain);
  /// Returns the state of every role. All roles must be at rest.
  task<checkpoint> save();
  /// Evaluates the last weights and writes the last and best model and the summary. Throws
  /// evaluation_error, and call_error of kind cancelled if the run is asked to stop meanwhile.
  task<run_summary> conclude();
  /// Serves the roles, trains and concludes. Throws call_error of kind cancelled if the run is
  /// asked to stop. If training fails, the model of that moment is kept and the error is thrown.
  task<run_summary> train_from_the_start();

  /// Returns the newest weights, also if the weight store has not received them yet.
  task<weights> newest();
  /// Writes these weights as the run's last model. An error of the disk is logged, the model is
  /// added to `unwritten`, and training goes on.
  void keep_last_model(const weights& last);
  /// Writes the weights of this moment as the run's last model, also in the middle of an update.
  /// Logs a warning if the trainer does not return them in time.
  task<> keep_model_of_now();
  /// Writes the weights that were published last as the run's last model.
  task<> keep_published_model();

  /// Writes the row of progress.csv for the update under way. With callbacks.on_update, the row is
  /// written after that callback, together with the values that it recorded.
  task<> record(progress_row row);

  /// The loop calls this after each update; `before` is the progress at the loop's beginning. It
  /// calls on_update, evaluates if another evaluation.every_steps have passed, keeps the best
  /// model, and returns `stop` if a callback, a stop rule, the goal or a stop request ends the
  /// loop. If a stop request ends the evaluation, done.owed says that the evaluation and the
  /// callback `called` are still to come.
  task<loops::verdict> after_update(const run_progress& before, loops::progress now);
  /// Makes the evaluation and the call that done.owed says are still to come. Called when a stopped
  /// run goes on.
  task<> make_up_for_stop();
  /// Evaluates the newest weights during training, records the result, keeps their model if it is
  /// the best so far, and asks the stop rules. Returns none if a stop request ends the evaluation,
  /// or if it fails, which is logged.
  task<std::optional<evaluation>> evaluate_and_decide(loops::progress now);

  /// True if the run is asked to stop.
  bool is_stop_asked() const { return stop_asked && stop_asked(); }
  /// Throws call_error of kind cancelled if the run is asked to stop.
  void require_no_stop() const;

  /// The share of the run that is left, for schedules, as Stable-Baselines3 counts it:
  /// 1 - num_timesteps / total_timesteps, where num_timesteps includes the steps that the current
  /// update trains on. With three updates, a linear schedule takes 2/3, 1/3 and 0. It is 0 after
  /// settings.schedule_steps.
  double progress_remaining() const;
  /// A seed for state that can't be saved. It differs after each checkpoint.
  std::uint64_t seed_of_segment(std::string_view use) const;
  /// Seeds libtorch's generator in this process for the update that is due, from the run's seed and
  /// the version of the weights. So the random numbers that the code of an update draws from
  /// libtorch, such as those of a dropout, are the same in a run of the same seed and in one that
  /// was resumed, if no other thread of the process draws from libtorch meanwhile.
  void seed_torch_for_update() const;
  /// Adds a loop's report to the progress of the run.
  void add_report(const loops::report& report);

  system& sys;
  const run_settings settings;
  const run_output output;
  const run_callbacks callbacks;
  const training_metrics metrics;
  /// See run_options::stop_asked. May be null.
  const std::function<bool()> stop_asked;
  /// What the algorithm has called if the first 100 episodes have all had the same return, with
  /// that return. Its constructor may set it; null means nothing.
  std::function<void(double)> returns_are_equal;

  service<weight_store> store;
  service<recorder> records;
  run_directory directory = run_directory::open(".");
  std::shared_ptr<const run_lock> lock;  ///< The lock of `directory`.

  run_progress progress;
  /// The time when the run was last trained in this process. The time from then to the next
  /// training, in which a checkpoint is written and the roles are served anew, counts as training.
  std::optional<std::chrono::steady_clock::time_point> trained_until;
  /// The version at which last_model was written; -1 means that this run has not written it.
  std::int64_t version_of_last_model = -1;
  run_control control;
  std::set<std::filesystem::path> unwritten;  ///< Files that could not be written.

 private:
  template <class Role>
  static task<> tell(service<Role> environments, std::optional<std::string> options,
                     std::map<std::string, std::string> attrs) {
    if (options) {
      auto told = co_await environments.template fanout_settled<&Role::set_options>(*options);
      loops::detail::use_answers(told, [](auto& answer) { answer.value(); });
    }
    for (const auto& [name, json] : attrs) {
      auto told = co_await environments.template fanout_settled<&Role::set_attr>(name, json);
      loops::detail::use_answers(told, [](auto& answer) { answer.value(); });
    }
  }
  serve_options prepared(serve_options options) const;
  held_run hold_directory() const;
  task<> serve_recorder(const checkpoint* from);

  void keep_model(const std::filesystem::path& path, const weights& newest,
                  std::optional<double> score = std::nullopt);
  double score_to_beat() const;
  task<std::optional<evaluation>> evaluate_newest();
  task<> record_evaluation(evaluation seen);
  task<> tell_update(loops::progress now);
  task<> end_update(loops::progress now);
  task<evaluation> evaluate_unless_stopped(weights last);
  std::string stop_reason() const;
  run_summary summary_of(const evaluation& final, const weights& newest,
                         const replay_counts& seen) const;
  task<> finish(evaluation final, weights newest, run_summary summary);

  bool serves_ = false;
  bool goes_on_ = false;             ///< True if the roles go on from a checkpoint.
  std::optional<progress_row> row_;  ///< The row of the update under way, until on_update returns.
  std::int64_t steps_before_update_ = 0;
  std::vector<std::function<void()>> to_stop_;
  std::optional<task_selector> task_selector_;
  std::unique_ptr<detail::running_algorithm> algorithm_;
};

}  // namespace troupe

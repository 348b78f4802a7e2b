#pragma once
// One run in a system: the roles that every algorithm has, and what is done with them.

#include <chrono>
#include <filesystem>
#include <functional>
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
#include "algorithms/run/practice.hpp"
#include "algorithms/run/run_control.hpp"
#include "algorithms/run/settings.hpp"
#include "runtime/system/system.hpp"

namespace troupe {

/// How far a run has come.
struct run_progress {
  std::int64_t version = 0;     ///< Version of the weights in use: the number of updates.
  std::int64_t steps = 0;       ///< Environment steps trained on.
  std::int64_t episodes = 0;    ///< Rollouts that the loop generated.
  std::int64_t failed = 0;      ///< Rollouts that ended with an error.
  loops::score_history scores;  ///< The means of the evaluations, each over as many episodes.
  std::int64_t evaluated = -1;  ///< Version of the weights that the latest evaluation was of.
  std::int64_t owed = 0;        ///< Steps of the last update, if a stop has ended its evaluation.
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

/// The deadline of calls that compute or wait for as long as the work takes, however slow the cores
/// are: updates, evaluations, collections, and admission between updates. Only a call that is stuck
/// passes it, and the run ends with its error.
inline constexpr duration long_call = std::chrono::hours(24);

/// A run that trains, evaluates and is saved, by whatever algorithm (algorithm.hpp). It serves the
/// weight store and the recorder; the algorithm serves its own roles through it. It outlives all
/// of its coroutines, which share it.
class training_run {
 public:
  /// `what` makes the algorithm; one that makes none trains nothing. Throws unknown_environment,
  /// and what that throws.
  training_run(system& sys, const algorithm& what, run_output output, run_callbacks callbacks,
               std::function<bool()> stop_asked = nullptr);
  /// Ends the services that were served, the latest first.
  ~training_run();
  training_run(const training_run&) = delete;

  /// Serves a role that ends with the run. Its name gets the run's prefix. A call that is lost with
  /// a replica is made again if it is one of options.idempotent; where faults are injected none is
  /// given up, since these say nothing about a role or a call.
  template <class Role, class... A>
  task<service<Role>> serve(serve_options options, A... args) {
    options = prepared(std::move(options));
    auto served = co_await sys.serve<Role>(std::move(options), std::move(args)...);
    to_stop_.push_back([this, served] { sys.stop(served); });
    co_return served;
  }

  /// Told by the algorithm which role its environments are replicated in, once they are as they are
  /// to begin: it is told what to practise. See practice.hpp.
  template <class Role>
  task<> practise_on(service<Role> environments, std::size_t replicas) {
    if (!practice_) co_return;
    practice_->use(environments, replicas);
    co_await practice_->tell();
  }
  /// Whether there is anything to choose for the environments.
  bool practises() const { return practice_.has_value(); }
  /// Before each update: takes in the episodes that have ended, and tells what comes next.
  task<> practise();

  /// Serves every role. Where `from` is given, all of them go on from it: in `output.directory`,
  /// else in a new run directory. Throws state_error if `from` is of another configuration, and
  /// call_error of kind cancelled if it is asked to stop meanwhile.
  task<> serve_roles(const checkpoint* from);
  /// Whether all of them serve.
  bool serves() const { return serves_; }
  /// Serves the weight store alone.
  task<> serve_weight_store(const checkpoint* from);
  /// Trains until the weights have that version, or until it is asked to stop. `drain`: rollouts
  /// under way end before this returns, so that the run can be saved. Throws call_error of kind
  /// cancelled if it is asked to stop before there is anything to save.
  task<> train_until(std::int64_t version, bool drain);
  /// The state of every role, each of which is at rest.
  task<checkpoint> save();
  /// The evaluation at the end, and all that a run leaves behind. Throws evaluation_error, and
  /// call_error of kind cancelled if it is asked to stop meanwhile.
  task<run_summary> conclude();
  /// Serves, trains and concludes. Throws call_error of kind cancelled if it is asked to stop.
  /// Where training fails the model of that moment is kept.
  task<run_summary> train_from_the_start();

  /// The newest weights, also where the store has not been given them yet.
  task<weights> newest();
  /// Writes these weights as the run's last model. A disk that is full or gone does not end
  /// training: that is logged, and the model is one of what is unwritten.
  void keep_last_model(const weights& last);
  /// The weights of now as the run's last model, also in the middle of an update. Where they can't
  /// be had that is logged.
  task<> keep_model_of_now();

  /// The row of progress.csv of the update under way. Where there is callbacks.on_update it is
  /// written after that, with what it records.
  task<> record(progress_row row);

  /// What is done after each update of a loop that began at `before`: calls on_update, evaluates if
  /// another evaluation.every_steps have passed, keeps the best model, and asks who may end the
  /// loop. Where a stop ends the evaluation, that and the callback are owed.
  task<loops::verdict> after_update(const run_progress& before, loops::progress now);
  /// Both, when the run goes on.
  task<> make_up_for_stop();
  /// An evaluation of the newest weights during training: it is recorded, its model kept if it is
  /// the best so far, and who looks at it may end training. None where a stop ends it, or where it
  /// fails, which is logged.
  task<std::optional<evaluation>> evaluate_and_judge(loops::progress now);

  /// Whether the run is asked to stop.
  bool is_stop_asked() const { return stop_asked && stop_asked(); }
  /// Throws call_error of kind cancelled if it is.
  void require_no_stop() const;

  /// The share of the run that is left, for schedules, as Stable-Baselines3 counts it:
  /// 1 - num_timesteps / total_timesteps, after the steps that are trained on now have been
  /// counted. So three updates take 2/3, 1/3 and 0 of what falls linearly.
  double progress_remaining() const;
  /// The seed of what can't be saved: another one after each checkpoint.
  std::uint64_t seed_of_segment(std::string_view use) const;
  /// Adds what a loop has done.
  void add_report(const loops::report& report);

  system& sys;
  const run_settings settings;
  const run_output output;
  const run_callbacks callbacks;
  const training_metrics metrics;
  /// See run_options. May be null.
  const std::function<bool()> stop_asked;

  service<weight_store> store;
  service<recorder> records;
  run_directory directory = run_directory::open(".");
  std::shared_ptr<const run_lock> lock;  ///< Of `directory`.

  run_progress done;
  run_control control;
  std::set<std::filesystem::path> unwritten;  ///< Results that the disk has not taken.

 private:
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
  run_summary summary_of(const evaluation& final, const weights& newest,
                         const replay_counts& seen) const;
  task<> finish(evaluation final, weights newest, run_summary summary);

  bool serves_ = false;
  std::optional<progress_row> row_;  ///< Of the update under way, which waits for on_update.
  std::int64_t steps_before_update_ = 0;
  std::vector<std::function<void()>> to_stop_;
  std::optional<practice> practice_;
  std::unique_ptr<detail::running_algorithm> algorithm_;
};

}  // namespace troupe

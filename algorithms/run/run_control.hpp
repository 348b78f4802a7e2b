#pragma once
// The interface between a run and its on_update callback.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "algorithms/run/action_histogram.hpp"
#include "runtime/coroutine/task.hpp"

namespace troupe {

/// The parts of a run that run_callbacks::on_update may read and change after each update. The
/// learning rate that a callback sets, and values that are not written yet, are saved in
/// checkpoints, so a resumed run gives the same results, bit for bit, as one that was not
/// interrupted.
///
///   task<loops::verdict> halve_at_100(loops::progress now, run_control& control) {
///     if (now.updates == 100) control.set_learning_rate(control.learning_rate() / 2);
///     control.record("custom/minutes", now.seconds / 60);
///     co_return loops::verdict::go_on;
///   }
class run_control {
 public:
  /// The learning rate that the last update used; 0 before the first update.
  double learning_rate() const { return last_learning_rate_; }
  /// Sets the learning rate from the next update on, in place of the configured rate and schedule.
  /// Throws std::invalid_argument unless it is finite and > 0.
  void set_learning_rate(double lr);
  /// Undoes set_learning_rate: from the next update on the configured rate and schedule hold again,
  /// at the schedule's current point.
  void clear_learning_rate() { state_.learning_rate.reset(); }

  /// Records a value in the column `name` of progress.csv, the table and TensorBoard, and at once
  /// on the status page and in /metrics as `troupe_recorded_value{column="name"}`. It appears in
  /// this update's row or, if this update writes none, in the next row that is written. If a name
  /// is recorded several times, the last value counts; it also replaces a value that the algorithm
  /// records under that name. The value isn't checked. Throws std::invalid_argument for a name
  /// that require_column_name (actors/recorder/progress_csv.hpp) refuses. Roles and hooks of an
  /// algorithm of one's own call recorder::note.
  void record(std::string name, double value);

  /// The values of this update's row of progress.csv by their columns, such as "train/loss" and
  /// "train/learning_rate"; those of time and of episodes are added when the row is written. Empty
  /// if this update writes no row (log.every_updates, log.episodes).
  const std::map<std::string, double>& row() const { return row_; }

  /// The actions in the experience that the last update trained on. The histogram is empty before
  /// the first update, for off-policy algorithms, which train on the whole replay, and for language
  /// models.
  const action_histogram& actions() const { return actions_; }

  /// Sets the options of resets, a JSON object, in all training environments. They hold for every
  /// episode that begins from now on; evaluations don't have them. A replica that is restarted
  /// gets them, too. Throws what environment::set_options throws, as a role_error.
  task<> set_options(std::string json);
  /// Sets an attribute of all training environments to a JSON value, with the same rules; see
  /// environment::set_attr.
  task<> set_attr(std::string name, std::string json);

  // ---- For the run and its algorithm only. Callbacks must not call the members below.

  /// The state that checkpoints keep.
  struct state {
    /// The rate that set_learning_rate set; nullopt means that the configured rate holds.
    std::optional<double> learning_rate;
    std::map<std::string, double> values;    ///< Recorded values that have not been written yet.
    std::optional<std::string> env_options;  ///< What set_options set.
    std::map<std::string, std::string> env_attrs;  ///< What set_attr set, by name.

    bool empty() const {
      return !learning_rate && values.empty() && !env_options && env_attrs.empty();
    }
  };
  /// Sets options and attributes in all environments.
  using tell_environments =
      std::function<task<>(std::optional<std::string> options, std::map<std::string, std::string>)>;
  /// Says how environments are told their options and attributes, and tells those that a checkpoint
  /// had.
  task<> use(tell_environments tell);
  /// Tells the environments their options and attributes again, since a replica may have been
  /// restarted.
  task<> tell();
  /// Returns the state for a checkpoint.
  const state& kept() const { return state_; }
  /// Restores the state of a checkpoint.
  void restore(state kept) { state_ = std::move(kept); }
  /// The rate that set_learning_rate set and that still holds; nullopt means that the configured
  /// rate holds.
  std::optional<double> chosen_learning_rate() const { return state_.learning_rate; }
  /// Sets the learning rate of the update that has just been made.
  void updated(double learning_rate) { last_learning_rate_ = learning_rate; }
  /// Sets the actions of the update that has just been made.
  void saw(action_histogram actions) { actions_ = std::move(actions); }
  /// Sets the values of the row of the update that has just been made.
  void saw_row(std::map<std::string, double> row) { row_ = std::move(row); }
  /// Moves the recorded values into `row`, where they replace values of the same name.
  void write(std::map<std::string, double>& row);

 private:
  state state_;
  std::map<std::string, double> row_;
  double last_learning_rate_ = 0.0;
  tell_environments tell_;
  action_histogram actions_;
};

}  // namespace troupe

#pragma once
// The interface between a run and its on_update callback.

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "algorithms/run/action_histogram.hpp"

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

  /// The actions in the experience that the last update trained on. The histogram is empty before
  /// the first update, for off-policy algorithms, which train on the whole replay, and for language
  /// models.
  const action_histogram& actions() const { return actions_; }

  // ---- For the run and its algorithm only. Callbacks must not call the members below.

  /// The state that checkpoints keep.
  struct state {
    /// The rate that set_learning_rate set; nullopt means that the configured rate holds.
    std::optional<double> learning_rate;
    std::map<std::string, double> values;  ///< Recorded values that have not been written yet.

    bool empty() const { return !learning_rate && values.empty(); }
  };
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
  /// Moves the recorded values into `row`, where they replace values of the same name.
  void write(std::map<std::string, double>& row);

 private:
  state state_;
  double last_learning_rate_ = 0.0;
  action_histogram actions_;
};

}  // namespace troupe

#pragma once
// The interface between a run and its on_update callback.

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "algorithms/run/action_histogram.hpp"

namespace troupe {

/// The parts of a run that run_callbacks::on_update may read and change after each update. Settings
/// are kept in checkpoints, so a run that goes on from one is the same bit for bit.
///
///   task<loops::verdict> halve_when_far(loops::progress now, run_control& control) {
///     if (now.updates == 100) control.set_learning_rate(control.learning_rate() / 2);
///     control.record("custom/left_share", share_of_left(control.actions()));
///     co_return loops::verdict::go_on;
///   }
class run_control {
 public:
  /// The optimiser's step size in the last update.
  double learning_rate() const { return last_learning_rate_; }
  /// Sets the learning rate from the next update on, in place of the configuration's rate and
  /// schedule. Throws std::invalid_argument unless it is finite and > 0.
  void set_learning_rate(double lr);
  /// Returns to the configuration's learning rate from the next update on, at the schedule's value
  /// of that moment.
  void clear_learning_rate() { state_.learning_rate.reset(); }

  /// Adds a column to progress.csv and TensorBoard, in this update's row; if the update has no row,
  /// in the next one. If a name is recorded several times, the last value counts; it also replaces
  /// a value that the algorithm records under that name. Throws std::invalid_argument if the name
  /// is empty or has a comma, a quote or a line break.
  void record(std::string name, double value);

  /// The actions in the experience that the last update trained on. Empty for off-policy
  /// algorithms, which train on the whole replay, and for language models.
  const action_histogram& actions() const { return actions_; }

  // ---- members that the run and its algorithm use

  /// The state that checkpoints keep.
  struct state {
    std::optional<double> learning_rate;   ///< The rate that was set; else the configuration's.
    std::map<std::string, double> values;  ///< Recorded values that have not been written yet.

    bool empty() const { return !learning_rate && values.empty(); }
  };
  const state& kept() const { return state_; }
  void restore(state kept) { state_ = std::move(kept); }
  /// The step size that was set for the next update; none means the configuration's.
  std::optional<double> chosen_learning_rate() const { return state_.learning_rate; }
  /// Notes the step size of the update that has just been made.
  void updated(double learning_rate) { last_learning_rate_ = learning_rate; }
  void saw(action_histogram actions) { actions_ = std::move(actions); }
  /// Moves the recorded values into a row.
  void write(std::map<std::string, double>& row);

 private:
  state state_;
  double last_learning_rate_ = 0.0;
  action_histogram actions_;
};

}  // namespace troupe

#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "algorithms/run/action_histogram.hpp"

namespace troupe {

/// What run_callbacks::on_update may read and change of a run. It is called after each update; what
/// it sets is kept in checkpoints, so that a run that goes on from one is the same bit for bit.
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
  /// From the next update on it is `lr`, in place of the configuration's and its schedule. Throws
  /// std::invalid_argument unless it is finite and > 0.
  void set_learning_rate(double lr);
  /// From the next update on it is the configuration's again, where the schedule is then.
  void clear_learning_rate() { state_.learning_rate.reset(); }

  /// A column of progress.csv and of TensorBoard, in the row of this update; where the update has
  /// none, in the next one. Of several values of one name the last counts, also before one that the
  /// algorithm records. Throws std::invalid_argument if the name is empty or has a comma, a quote
  /// or a line break.
  void record(std::string name, double value);

  /// Of the experience that the last update was of. Empty of off-policy algorithms, whose updates
  /// are of the whole replay, and of language models.
  const action_histogram& actions() const { return actions_; }

  // ---- for the run and its algorithm

  /// What is kept in checkpoints.
  struct state {
    std::optional<double> learning_rate;   ///< That was set; none: the configuration's.
    std::map<std::string, double> values;  ///< That wait for a row.

    bool empty() const { return !learning_rate && values.empty(); }
  };
  const state& kept() const { return state_; }
  void restore(state kept) { state_ = std::move(kept); }
  /// The step size of the next update; none: the configuration's.
  std::optional<double> chosen_learning_rate() const { return state_.learning_rate; }
  /// An update has been made with that step size.
  void updated(double learning_rate) { last_learning_rate_ = learning_rate; }
  void saw(action_histogram actions) { actions_ = std::move(actions); }
  /// Moves the values that wait into a row.
  void write(std::map<std::string, double>& row);

 private:
  state state_;
  double last_learning_rate_ = 0.0;
  action_histogram actions_;
};

}  // namespace troupe

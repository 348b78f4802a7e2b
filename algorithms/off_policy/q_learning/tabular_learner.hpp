#pragma once
// The learner of tabular Q-learning as a run has it: collections in, a block of weights out.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/environments/discrete_states.hpp"
#include "actors/replay/transition_replay.hpp"
#include "algorithms/off_policy/q_learning/config.hpp"
#include "algorithms/off_policy/q_learning/q_learner.hpp"

namespace troupe {

/// The input of one update.
struct tabular_batch {
  std::vector<collected_transitions> collections;
  double progress_remaining = 1.0;       ///< Falls from 1 to 0 during training.
  std::optional<double> chosen_lr = {};  ///< Replaces lr and its schedule, if it is set.
};

struct tabular_report {
  double td_error = 0;         ///< The mean |TD error| of the update's transitions.
  double q_mean = 0;           ///< The mean Q(s, a) of their states and actions, before the update.
  std::int64_t rows = 0;       ///< How many there were.
  std::int64_t n_updates = 0;  ///< Transitions learned from since the start.
  double learning_rate = 0;
};

/// Applies the rule of q_learner to each transition of a batch once, in its order. It is a learner
/// of actors/trainer/trainer.hpp.
class tabular_learner {
 public:
  using batch = tabular_batch;
  using report = tabular_report;

  /// Throws std::invalid_argument for observations that can't be numbered, and for a table that is
  /// too large.
  tabular_learner(const space& observations, std::int64_t actions, const q_rule_options& options);

  report update(const batch& with);

  /// The table as floats [S A].
  const at::Tensor& parameters() const { return parameters_; }
  /// Throws std::invalid_argument if the size differs.
  void load_parameters(const at::Tensor& parameters);

  /// The table in full precision, and the counts. The parameters are part of it.
  std::string save() const { return learner_.save(); }
  void restore(const std::string& bytes);

 private:
  void publish();

  discrete_states states_;
  q_rule_options options_;
  q_learner learner_;
  at::Tensor parameters_;
};

}  // namespace troupe

#pragma once
// The learner of tabular Q-learning as a run has it: collections in, a block of weights out.

#include <cstdint>
#include <span>
#include <vector>

#include "actors/environments/discrete_states.hpp"
#include "actors/replay/transition_replay.hpp"
#include "algorithms/learner/learner.hpp"
#include "algorithms/off_policy/q_learning/config.hpp"
#include "algorithms/off_policy/q_learning/q_learner.hpp"

namespace troupe {

/// What one update learns from.
using tabular_batch = std::vector<collected_transitions>;

/// Applies the rule of q_learner to each transition of a batch once, in its order. The metrics are
/// "train/td_error", the mean |TD error| of the update's transitions, "train/q_mean", the mean
/// Q(s, a) of their states and actions before the update, and "train/n_updates", the number of
/// transitions learned from since the start. The state has the table in full precision.
class tabular_learner final : public learner<tabular_batch> {
 public:
  /// Throws std::invalid_argument for observations that can't be numbered, and for a table that is
  /// too large.
  tabular_learner(const space& observations, std::int64_t actions, const q_rule_options& options);

  /// The table as floats [S A].
  std::span<const float> acting() const override { return parameters_; }
  /// Throws std::invalid_argument if the size differs.
  void start_from(std::span<const float> acting, const named_tensors& beside) override;
  void visit_state(state_visitor& visit) override;

 private:
  void check_batch(const tabular_batch&) const override {}
  void train(const tabular_batch& batch) override;
  void copy_table();

  discrete_states states_;
  q_learner learner_;
  std::vector<float> parameters_;
};

}  // namespace troupe

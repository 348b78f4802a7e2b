#pragma once
// The learner of tabular Q-learning: its transitions, table and options.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "algorithms/learner/learner_state.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

/// One step of an environment with numbered states and actions.
struct q_transition {
  std::int64_t state = 0;
  std::int64_t action = 0;
  double reward = 0;
  bool terminated = false;  ///< True if the episode ended; a truncated step has a next state.
  std::int64_t next_state = 0;
};

/// A snapshot of Q(s, a) for S states and A actions. It is immutable, so replicas share it.
struct q_table {
  std::int64_t version = 0;                           ///< How many batches it has learned from.
  double epsilon = 0;                                 ///< The share of random actions.
  std::int64_t actions = 1;                           ///< A
  std::shared_ptr<const std::vector<double>> values;  ///< [S, A]
};

/// The options of q_learner; `describe` has their units, ranges and meanings. The defaults are
/// those of Gymnasium's tutorial on Blackjack.
struct q_learning_options {
  double lr = 0.01;
  double gamma = 0.95;
  double epsilon_begin = 1.0;
  double epsilon_end = 0.1;
  std::int64_t epsilon_steps = 50'000;
  double initial_value = 0;
};

void describe(options_schema<q_learning_options>& s);

/// Tabular Q-learning: Watkins 1989, https://www.cs.rhul.ac.uk/~chrisw/thesis.html; Sutton and
/// Barto 2018, equation 6.8:
///
///     Q(s, a) <- Q(s, a) + lr * (r + gamma * max_a' Q(s', a') - Q(s, a))
///
/// After a terminated step the value of the next state is 0. The method is off-policy: transitions
/// may be of any age and in any order.
class q_learner {
 public:
  /// Throws std::invalid_argument that names the option if one is out of range.
  q_learner(std::int64_t states, std::int64_t actions, const q_learning_options& options);

  /// Learns from one transition. Returns the error before the update, r + gamma * max Q(s') -
  /// Q(s, a). Throws std::invalid_argument, without learning, if the state or action is out of
  /// range or the reward is not finite.
  double update(const q_transition& one);
  /// Learns from all transitions in order and returns the table after them.
  q_table learn(const std::vector<q_transition>& batch);

  /// The values Q(state, .) [A].
  std::span<const double> values(std::int64_t state) const;
  /// The best action in `state`; the first if several are equal.
  std::int64_t greedy(std::int64_t state) const;
  /// All values [S, A], those of a state one after another.
  std::span<const double> all_values() const { return values_; }
  /// Replaces all values. Throws std::invalid_argument if the number of them differs.
  void set_values(std::vector<double> values);
  /// Changes the share of a TD error by which a value changes. Throws std::invalid_argument unless
  /// it is finite and >= 0.
  void set_lr(double lr);
  /// How many transitions were learned from.
  std::int64_t transitions() const { return transitions_; }
  /// The share of random actions after the transitions that were learned from so far.
  double epsilon() const;
  q_table table() const;

  /// The state from which a learner goes on exactly.
  std::string save() const;
  /// Restores what `save` returned. Throws state_error if it is not the state of a table of this
  /// size.
  void restore(const std::string& bytes);
  /// Shows all parts of the state.
  void visit_state(state_visitor& visit);

 private:
  std::size_t place_of(std::int64_t state) const {
    return static_cast<std::size_t>(state * actions_);
  }

  std::int64_t states_, actions_;
  q_learning_options options_;
  std::vector<double> values_;    // [S, A]
  std::int64_t transitions_ = 0;  // how many were learned from
  std::int64_t version_ = 0;
};

}  // namespace troupe

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/config/config.hpp"

namespace troupe {

/// One step of an environment whose states and actions are numbered.
struct q_transition {
  std::int64_t state = 0;
  std::int64_t action = 0;
  double reward = 0;
  bool terminated = false;  ///< The task ended; a step that was only cut off has a next state.
  std::int64_t next_state = 0;
};

/// Q(s, a) of S states and A actions as it was at one time; immutable, so replicas share it.
struct q_table {
  std::int64_t version = 0;                           ///< How many batches it has learned from.
  double epsilon = 0;                                 ///< Share of actions to be drawn at random.
  std::int64_t actions = 1;                           ///< A
  std::shared_ptr<const std::vector<double>> values;  ///< [S, A]
};

/// `describe` has the unit, the range and the meaning of each. Defaults are those of Gymnasium's
/// tutorial on Blackjack.
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
/// with nothing after r where the task terminated. Off-policy: transitions of any age and order do.
class q_learner {
 public:
  /// Throws std::invalid_argument naming an option out of range.
  q_learner(std::int64_t states, std::int64_t actions, const q_learning_options& options);

  /// Learns from one transition; returns the error before it, r + gamma * max Q(s') - Q(s, a).
  /// Throws std::invalid_argument for a state or action out of range and a reward that is not
  /// finite; nothing is learned then.
  double update(const q_transition& one);
  /// Learns from all in order, and gives the table after them.
  q_table learn(const std::vector<q_transition>& batch);

  /// Q(state, .) [A]
  std::span<const double> values(std::int64_t state) const;
  /// The best action in `state`; of equal ones the first.
  std::int64_t greedy(std::int64_t state) const;
  /// After as many transitions as were learned from.
  double epsilon() const;
  q_table table() const;

  /// Everything that what comes hangs on. Floats keep their bits.
  std::string save() const;
  /// Throws state_error for what is no state of a table of this size.
  void restore(std::string bytes);

 private:
  std::size_t place_of(std::int64_t state) const {
    return static_cast<std::size_t>(state * actions_);
  }

  std::int64_t states_, actions_;
  q_learning_options options_;
  std::vector<double> values_;    // [S, A]
  std::int64_t transitions_ = 0;  // learned from
  std::int64_t version_ = 0;
};

}  // namespace troupe

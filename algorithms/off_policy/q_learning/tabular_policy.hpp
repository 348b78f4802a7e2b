#pragma once
// The acting role of tabular Q-learning.

#include <cstdint>
#include <vector>

#include "actors/random/action_random.hpp"
#include "algorithms/off_policy/q_learning/q_learner.hpp"
#include "runtime/service/options/replica_info.hpp"

namespace troupe {

/// Actions for N states, and the version of the table that chose them.
struct tabular_actions {
  std::vector<std::int64_t> actions;  ///< [N]
  std::int64_t version = 0;
};

/// The role that acts by a table. It takes the best action in each state, or with probability
/// epsilon a random one (Sutton and Barto 2018, section 2.2).
class tabular_policy {
 public:
  /// `seed` decides the random actions; each replica has its own stream. Throws
  /// std::invalid_argument if the table does not have whole rows.
  tabular_policy(const replica_info& info, q_table first, std::uint64_t seed);

  /// Chooses actions; the first if several are equally good. Throws std::invalid_argument if a
  /// state is out of range.
  tabular_actions act(std::vector<std::int64_t> states);
  /// Takes another table, older or newer. Throws std::invalid_argument if the table does not have
  /// whole rows.
  void update(q_table fresh);

 private:
  std::int64_t best_action(std::int64_t state) const;

  q_table table_;
  action_random random_;
};

}  // namespace troupe

#pragma once
// The configuration of a run of tabular Q-learning.

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/off_policy/config.hpp"

namespace troupe {

/// The options of the update rule; `describe` has their units, ranges and meanings.
struct q_rule_options {
  double lr = 0.1;
  annealing lr_schedule = annealing::constant;
  double gamma = 0.99;
  double initial_value = 0;
};

/// How experience is collected. Each transition is learned from once, in its order.
struct q_collection_section {
  int train_freq = 16;
  int workers = 1;
  int max_staleness = 1;
};

struct q_learning_config : run_config {
  q_learning_config();

  q_collection_section collection;
  episode_log_section log;
  q_rule_options trainer;
  epsilon_schedule exploration;

  /// The part that every off-policy algorithm has, without a replay from which training draws.
  off_policy_config shared() const;
};

void describe(options_schema<q_rule_options>& s);
void describe(options_schema<q_collection_section>& s);
void describe(options_schema<q_learning_config>& s);

}  // namespace troupe

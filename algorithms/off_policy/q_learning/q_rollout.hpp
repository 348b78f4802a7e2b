#pragma once
// The roles and the episode function of tabular Q-learning, for the loops in algorithms/loops.

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/environments/discrete_states.hpp"
#include "actors/environments/hosted_environment.hpp"
#include "actors/replay/replay_queue.hpp"
#include "algorithms/off_policy/q_learning/tabular_policy.hpp"
#include "runtime/service/service.hpp"

namespace troupe {

/// The experience of tabular Q-learning: T steps of B environments under a tabular policy.
struct q_rollout {
  std::vector<q_transition> transitions;  ///< At most T * B; steps that failed are left out.
  std::vector<double> returns;            ///< Undiscounted returns of the episodes that ended.
  std::int64_t version = 0;               ///< The version of the oldest table that acted.
  item_id id;
};

/// The services and options of generate_q_rollout.
struct q_roles {
  service<hosted_environment> environments;
  service<tabular_policy> policies;
  service<replay_queue<q_rollout>> replay;
  std::shared_ptr<const discrete_states> states;  ///< Numbers the environments' observations.
  std::int64_t n_steps = 1;                       ///< T
};

/// The episode function of tabular Q-learning, for every loop: makes T steps of one replica's
/// environments, from their present states.
task<q_rollout> generate_q_rollout(q_roles roles);

}  // namespace troupe

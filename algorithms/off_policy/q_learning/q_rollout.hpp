#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/environments/discrete_states.hpp"
#include "actors/environments/hosted_environment.hpp"
#include "actors/replay/replay_queue.hpp"
#include "algorithms/off_policy/q_learning/tabular_policy.hpp"
#include "runtime/service/service.hpp"

namespace troupe {

/// What B environments did in T steps under a tabular policy.
struct q_rollout {
  std::vector<q_transition> transitions;  ///< At most T * B: a failed episode's step is left out.
  std::vector<double> returns;            ///< Of the episodes that ended in it, undiscounted.
  std::int64_t version = 0;               ///< The oldest table that acted.
  item_id id;
};

/// The services that a rollout talks to.
struct q_roles {
  service<hosted_environment> environments;
  service<tabular_policy> policies;
  service<replay_queue<q_rollout>> replay;
  std::shared_ptr<const discrete_states> states;  ///< Of the environments' observations.
  std::int64_t n_steps = 1;                       ///< T
};

/// T steps of one replica's environments, from where they are.
task<q_rollout> generate_q_rollout(q_roles roles);

}  // namespace troupe

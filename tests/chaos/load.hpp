#pragma once
// The load: callers that ask idempotent questions and know the answers, and episodes in sessions.

#include "tests/chaos/counts.hpp"
#include "tests/chaos/roles.hpp"

namespace troupe::chaos {

/// What callers and the killer share; all of them run on the program's own actor.
struct load {
  roles to;
  bool ending = false;
  request_count environment, policy, reward;  ///< Idempotent ones.
  request_count work;  ///< Not idempotent ones, some longer than their deadline.
  episode_count sessions;
  std::int64_t updates = 0;  ///< Of the policy's weights, acknowledged by its replicas.
  std::int64_t stale = 0;    ///< Answers by weights older than those acknowledged before the call.
};

/// Starts them, `callers` for each service of the roles and as many episodes; they go on until the
/// load ends.
void start_load(group& g, load& l, int callers, std::uint64_t seed);

}  // namespace troupe::chaos

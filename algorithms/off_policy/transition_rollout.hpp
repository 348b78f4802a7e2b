#pragma once
// The roles and the episode function of off-policy algorithms.

#include <cstdint>
#include <memory>

#include "actors/replay/transition_replay.hpp"
#include "algorithms/off_policy/collector.hpp"

namespace troupe {

/// The services and options of generate_transitions.
struct transition_roles {
  service<collector> collectors;
  service<transition_replay> replay;
  std::int64_t steps = 1;         ///< The steps of each environment in one collection.
  std::int64_t environments = 1;  ///< The number of environments of one collector.
  /// The number of environment steps of the run that have begun. Only coroutines of the loop's
  /// actor use it, so it needs no lock.
  std::shared_ptr<std::int64_t> begun = std::make_shared<std::int64_t>(0);
};

/// The episode function of DQN, SAC, TD3 and DDPG, for every loop. It sends one message to a
/// collector, whatever the number of steps.
task<collected_transitions> generate_transitions(transition_roles roles);

}  // namespace troupe

#pragma once

#include <cstdint>
#include <memory>

#include "actors/replay/transition_replay.hpp"
#include "algorithms/off_policy/collector.hpp"

namespace troupe {

/// The services that transitions are made with.
struct transition_roles {
  service<collector> collectors;
  service<transition_replay> replay;
  std::int64_t steps = 1;  ///< Of each environment in one collection.
  std::int64_t environments = 1;
  /// Environment steps of the run that have begun. The loop's own, so no two coroutines touch it at
  /// once.
  std::shared_ptr<std::int64_t> begun = std::make_shared<std::int64_t>(0);
};

/// The episode function of DQN, SAC, TD3 and DDPG, for every loop: one message, whatever the number
/// of steps.
task<collected_transitions> generate_transitions(transition_roles roles);

}  // namespace troupe

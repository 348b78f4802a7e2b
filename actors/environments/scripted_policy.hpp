#pragma once
// Policies by fixed rules, which play agents beside learned ones.

#include <cstdint>
#include <span>
#include <string>

#include "actors/environments/space.hpp"
#include "actors/random/action_random.hpp"

namespace troupe {

/// What an agent sees before it acts.
struct agent_sight {
  std::span<const float> obs;   ///< Its flattened observation [D].
  std::span<const float> mask;  ///< Its action mask, 1 for an allowed choice; empty without masks.
};

/// A policy by fixed rules. It has no weights and does not learn.
class scripted_policy {
 public:
  virtual ~scripted_policy() = default;
  /// Chooses an action: choices [P] from 0 on and floats [A], in the order of action_numbers.
  virtual void act(const agent_sight& seen, action_random& random, std::span<std::int64_t> choices,
                   std::span<float> floats) = 0;
};

/// The choice of a scripted policy, and what it needs to know.
struct scripted_policy_request {
  std::string name;                ///< The name under which it is registered.
  space actions;                   ///< The action space of its agents.
  std::string env_options = "{}";  ///< The options of the environment, a JSON object.
  bool operator==(const scripted_policy_request&) const = default;
};

}  // namespace troupe

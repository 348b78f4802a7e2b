#pragma once
// The options of algorithms for several agents: which policy plays which agent, and what is
// trained.

#include <string>
#include <vector>

#include "actors/environments/environment.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

/// Whose rewards are mixed into an agent's own, if its reward is shared.
enum class reward_team {
  all,    ///< Those of all agents.
  policy  ///< Those of the agents that the same policy plays.
};

struct agents_section {
  json_object policies = {};
  bool share = true;
  std::vector<std::string> frozen = {};
  bool ids = true;
  double shared_reward = 0.0;
  reward_team team = reward_team::all;
};

void describe(enum_schema<reward_team>& s);
void describe(options_schema<agents_section>& s);

/// Returns the name of the policy that plays each agent, [N]. Throws std::invalid_argument that
/// names the environment and what does not fit: a pattern that covers no agent, an agent that two
/// patterns cover or none, and a frozen policy that plays no agent.
std::vector<std::string> policy_of_agents(const agents_section& section, const env_spec& spec);

}  // namespace troupe

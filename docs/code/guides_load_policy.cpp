// The code of docs/guides/load_policy.md.

// readme: load_policy
#include <cstdio>

#include "algorithms/run/load_policy.hpp"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  auto policy = troupe::load_policy(argv[1]);  // a run directory or a model file
  const std::vector<float> observation(policy.observation_size());
  const auto action = policy.act(observation);
  for (const auto choice : action.discrete) std::printf("%ld\n", static_cast<long>(choice));
  for (const float number : action.continuous) std::printf("%g\n", static_cast<double>(number));
}
// readme: end

// readme: load_policy_agents
/// Returns the action of each agent for the observations of all.
std::vector<troupe::env_actions> act_together(troupe::loaded_policy& policy,
                                              const std::vector<std::vector<float>>& observations) {
  std::vector<troupe::env_actions> actions;
  for (std::size_t i = 0; i < policy.agents().size(); ++i) {
    actions.push_back(policy.act(policy.agents()[i], observations.at(i)));
  }
  return actions;
}
// readme: end

#include "algorithms/multi_agent/on_policy/mappo/mappo.hpp"

#include "algorithms/multi_agent/on_policy/multi_agent_on_policy.hpp"
#include "algorithms/on_policy/ppo/learner.hpp"

namespace troupe {

on_policy_learner make_learner(const network_shape& shape, const mappo_config& config) {
  const auto options = checked_options(ppo_options_of(config), "mappo");
  auto loss = loss_of(options);
  loss.name = "mappo";
  return {shape, options, std::move(loss), config.seed};
}

algorithm algorithm_with(const mappo_config& config) {
  return multi_agent_on_policy_algorithm(config);
}

}  // namespace troupe

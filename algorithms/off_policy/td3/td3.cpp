#include "algorithms/off_policy/td3/td3.hpp"

#include <nlohmann/json.hpp>

namespace troupe {

named_values named(const td3_metrics& m) {
  named_values columns{{"train/critic_loss", m.critic_loss}, {"train/q_mean", m.q_mean}};
  if (m.trained_actor) columns.emplace_back("train/actor_loss", m.actor_loss);
  return columns;
}

algorithm algorithm_with(const td3_config& config) { return td3_algorithm(config); }
algorithm algorithm_with(const ddpg_config& config) { return td3_algorithm(config); }

}  // namespace troupe

#include "algorithms/on_policy/reinforce/reinforce.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/on_policy/ppo/ppo_run.hpp"

namespace troupe {

ppo_config as_ppo(const reinforce_config& config) {
  ppo_config same;
  static_cast<on_policy_config&>(same) = config;
  same.document = to_json(config).dump();
  const auto& t = config.trainer;
  static_cast<on_policy_options&>(same.trainer) = t;
  same.trainer.gae_lambda = 1.0;
  same.trainer.normalize_advantage = t.normalize_returns;
  same.trainer.baseline = t.baseline;
  same.trainer.whole_episodes = true;
  take_whole_batches(same);
  return same;
}

trainable trainable_of(const reinforce_config& config) {
  auto made = trainable_of(as_ppo(config));
  made.settings.idle = idle_options_of(config, idle_rules_of(config));
  return made;
}

}  // namespace troupe

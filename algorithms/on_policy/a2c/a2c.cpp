#include "algorithms/on_policy/a2c/a2c.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/on_policy/ppo/ppo_run.hpp"

namespace troupe {

ppo_config as_ppo(const a2c_config& config) {
  ppo_config same;
  static_cast<on_policy_config&>(same) = config;
  same.document = to_json(config).dump();
  const auto& t = config.trainer;
  static_cast<on_policy_options&>(same.trainer) = t;
  same.trainer.gae_lambda = t.gae_lambda;
  same.trainer.normalize_advantage = t.normalize_advantage;
  same.trainer.optimizer = t.optimizer;
  same.trainer.rmsprop_alpha = t.rmsprop_alpha;
  take_whole_batches(same);
  return same;
}

trainable trainable_of(const a2c_config& config) {
  auto made = trainable_of(as_ppo(config));
  made.settings.idle = idle_options_of(config, idle_rules_of(config));
  return made;
}

}  // namespace troupe

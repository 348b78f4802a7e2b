#pragma once
// Makes IPPO, MAPPO and COMA for a run. Their roles, episode and update are those of every
// on-policy algorithm (algorithms/on_policy/on_policy.hpp).

#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "algorithms/multi_agent/on_policy/config.hpp"
#include "algorithms/on_policy/on_policy.hpp"
#include "algorithms/on_policy/ppo/learner.hpp"

namespace troupe {

/// Returns the learner of one policy of that shape, which learns by PPO. `name` is the algorithm's.
template <class Config>
on_policy_learner agent_ppo_learner(const network_shape& shape, const Config& config,
                                    const char* name) {
  const auto options = checked_options(ppo_options_of(config), name);
  auto loss = loss_of(options);
  loss.name = name;
  return {shape, options, std::move(loss), config.seed};
}

/// Makes an on-policy algorithm with several agents for a run. Config is derived from
/// multi_agent_on_policy_config. With `joint_actions` rollouts have policy_rollout::acting. These
/// functions must be declared beside it:
///
///   void describe(options_schema<Config>&)
///   on_policy_learner make_learner(const network_shape&, const Config&)
///
/// make_learner gets the shape of one policy, or returns a std::unique_ptr<rollout_learner> for all
/// of them. If the network that acts has other options than config.network(), declare
/// network_options acting_network_of(const Config&), too.
template <class Config, class Json = nlohmann::json>
algorithm multi_agent_on_policy_algorithm(const Config& config, bool joint_actions = false) {
  auto settings =
      settings_of(config, to_json<Config, Json>(config).dump(), idle_options_of(config));
  settings.network = acting_network_of(config);
  settings.shape = [config](const env_spec& spec) { return config.shape_for(spec); };
  auto check = [settings, config] {
    require_network(settings);
    const auto shape = config.shape_for(spec_of(settings.env));
    rollout_learner::of_policies(shape, config);
    warn_of_idle_policies(config.agents, shape);
  };
  auto setup = on_policy_setup_of(config);
  setup.network = settings.network;
  setup.writing = {.sharing = {.weight = config.agents.shared_reward,
                               .team = config.agents.team,
                               .after_end = config.agents.reward_after_end},
                   .joint_actions = joint_actions,
                   .limits_end = !config.agents.proper_time_limits};
  setup.trained = [config](const network_shape& shape) { return config.trained(shape); };
  auto make_update = [config, network = settings.network, joint_actions](const network_shape& shape,
                                                                         std::uint64_t seed) {
    return random_update(configured_learner<Config, rollout_learner>{shape, config}(), shape,
                         network, seed, joint_actions);
  };
  auto made = algorithm_with(std::move(settings), std::move(check), std::move(setup));
  made.make_update = std::move(make_update);
  return made;
}

}  // namespace troupe

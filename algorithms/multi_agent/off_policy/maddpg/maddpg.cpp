#include "algorithms/multi_agent/off_policy/maddpg/maddpg.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/multi_agent/off_policy/config.hpp"
#include "algorithms/multi_agent/off_policy/maddpg/learner.hpp"
#include "algorithms/off_policy/off_policy_algorithm.hpp"

namespace troupe {
namespace {

template <class Config>
algorithm maddpg_algorithm(const Config& c) {
  auto made = off_policy_algorithm_of<maddpg_learner, Config, nlohmann::json>(
      c, network_kind::squashed, {.noise = c.noise}, c.agents);
  made.settings.shape = [c](const env_spec& spec) { return c.shape_for(spec); };
  made.agents = [section = c.agents](const network_shape& shape) {
    warn_of_idle_policies(section, shape);
    return agent_collection{.explores = trained_policies(section, shape),
                            .reward_shares = reward_shares_of(section, shape),
                            .limits_end = !section.proper_time_limits};
  };
  return algorithm_with(std::move(made));
}

}  // namespace

algorithm algorithm_with(const maddpg_config& config) { return maddpg_algorithm(config); }
algorithm algorithm_with(const matd3_config& config) { return maddpg_algorithm(config); }

}  // namespace troupe

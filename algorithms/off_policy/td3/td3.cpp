#include "algorithms/off_policy/td3/td3.hpp"

#include "algorithms/off_policy/learner_rule.hpp"

namespace troupe {

named_values named(const td3_metrics& m) {
  named_values columns{{"train/critic_loss", m.critic_loss}, {"train/q_mean", m.q_mean}};
  if (m.trained_actor) columns.emplace_back("train/actor_loss", m.actor_loss);
  return columns;
}

namespace {

template <class Config>
algorithm grpo_algorithm_with(const Config& c) {
  return algorithm_with(off_policy_algorithm_of<learner_rule<td3_learner>>(
      c, network_kind::squashed, {.noise = c.noise}));
}

}  // namespace

algorithm algorithm_with(const td3_config& c) { return grpo_algorithm_with(c); }
algorithm algorithm_with(const ddpg_config& c) { return grpo_algorithm_with(c); }

}  // namespace troupe

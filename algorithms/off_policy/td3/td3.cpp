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
trainable trainable_with(const Config& c) {
  return trainable_of(
      algorithm_of<learner_rule<td3_learner>>(c, network_kind::squashed, {.noise = c.noise}));
}

}  // namespace

trainable trainable_of(const td3_config& c) { return trainable_with(c); }
trainable trainable_of(const ddpg_config& c) { return trainable_with(c); }

}  // namespace troupe

#include "algorithms/off_policy/td3/td3.hpp"

#include "algorithms/off_policy/learner_rule.hpp"

namespace troupe {

/// Found by the state's type from learner_state.hpp.
template <class State, class Each>
  requires std::same_as<std::remove_const_t<State>, td3_learner_state>
void for_each_value(State& state, const Each& each) {
  each("actor", state.actor);
  each("critics", state.critics);
  each("target_actor", state.target_actor);
  each("target_critics", state.target_critics);
  each("actor_optimizer", state.actor_optimizer);
  each("critic_optimizer", state.critic_optimizer);
  each("random", state.random);
  each("n_updates", state.n_updates);
  each("skipped_in_a_row", state.skipped_in_a_row);
}

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

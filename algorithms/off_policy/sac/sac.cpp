#include "algorithms/off_policy/sac/sac.hpp"

#include "algorithms/off_policy/learner_rule.hpp"

namespace troupe {

/// Found by the state's type from learner_state.hpp.
template <class State, class Each>
  requires std::same_as<std::remove_const_t<State>, sac_learner_state>
void for_each_value(State& state, const Each& each) {
  each("actor", state.actor);
  each("critics", state.critics);
  each("target", state.target);
  each("log_ent_coef", state.log_ent_coef);
  each("actor_optimizer", state.actor_optimizer);
  each("critic_optimizer", state.critic_optimizer);
  each("ent_coef_optimizer", state.ent_coef_optimizer);
  each("random", state.random);
  each("n_updates", state.n_updates);
  each("skipped_in_a_row", state.skipped_in_a_row);
}

named_values named(const sac_metrics& m) {
  named_values columns{{"train/actor_loss", m.actor_loss},
                       {"train/critic_loss", m.critic_loss},
                       {"train/ent_coef", m.ent_coef},
                       {"train/entropy", m.entropy}};
  if (m.trained_ent_coef) columns.emplace_back("train/ent_coef_loss", m.ent_coef_loss);
  return columns;
}

trainable trainable_of(const sac_config& c) {
  return trainable_of(algorithm_of<learner_rule<sac_learner>>(c, network_kind::squashed_gaussian));
}

}  // namespace troupe

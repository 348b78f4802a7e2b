#include "algorithms/off_policy/dqn/dqn.hpp"

#include "algorithms/off_policy/learner_rule.hpp"

namespace troupe {

/// Found by the state's type from learner_state.hpp.
template <class State, class Each>
  requires std::same_as<std::remove_const_t<State>, dqn_learner_state>
void for_each_value(State& state, const Each& each) {
  each("parameters", state.parameters);
  each("target", state.target);
  each("optimizer", state.optimizer);
  each("random", state.random);
  each("n_updates", state.n_updates);
  each("skipped_in_a_row", state.skipped_in_a_row);
}

named_values named(const dqn_metrics& m) {
  return {{"train/loss", m.loss}, {"train/q_mean", m.q_mean}, {"train/grad_norm", m.grad_norm}};
}

namespace {

/// With the target updated after every so many steps of each environment: several times a
/// collection where that has more.
class dqn_rule final : public learner_rule<dqn_learner> {
 public:
  dqn_rule(const network_shape& shape, const dqn_options& options, std::uint64_t seed,
           std::int64_t every)
      : learner_rule(shape, options, seed), every_(every) {}

  void stepped(std::int64_t before, std::int64_t after) override {
    learner_.update_target(after / every_ - before / every_);
  }

 private:
  std::int64_t every_;
};

}  // namespace

trainable trainable_of(const dqn_config& c) {
  const auto kind = c.trainer.dueling ? network_kind::dueling_q_values : network_kind::q_values;
  return trainable_of(
      algorithm_of<dqn_rule>(c, kind, {.epsilon = c.exploration}, c.target_update_steps()));
}

}  // namespace troupe

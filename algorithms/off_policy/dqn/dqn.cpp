#include "algorithms/off_policy/dqn/dqn.hpp"

#include "algorithms/off_policy/learner_rule.hpp"

namespace troupe {

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

std::int64_t dqn_config::target_update_steps() const {
  return std::max<std::int64_t>(trainer.target_update_interval / env.n_envs, 1);
}

void describe(options_schema<dqn_training>& s) {
  describe_training(s);
  s.field("target_update_interval", &dqn_training::target_update_interval)
      .at_least(1)
      .unit("environment steps")
      .help("between updates of the target network");
  s.field("max_grad_norm", &dqn_training::max_grad_norm)
      .at_least(0)
      .help("of all parameters together; 0: no clipping");
  s.field("double_q", &dqn_training::double_q)
      .also_known_as({"double", "double_dqn", "is_double"})
      .help("the online network chooses the target's action: van Hasselt et al. 2016");
  s.field("dueling", &dqn_training::dueling)
      .also_known_as({"dueling_dqn"})
      .help("a state's value and the actions' advantages, from one network: Wang et al. 2016");
}

void describe(options_schema<dqn_config>& s) {
  describe_off_policy(s);
  s.field("exploration", &dqn_config::exploration).help("random actions of the collectors");
}

trainable trainable_of(const dqn_config& c) {
  const auto kind = c.trainer.dueling ? network_kind::dueling_q_values : network_kind::q_values;
  return trainable_of(
      algorithm_of<dqn_rule>(c, kind, {.epsilon = c.exploration}, c.target_update_steps()));
}

}  // namespace troupe

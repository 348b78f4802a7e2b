#include "algorithms/dqn/dqn.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/off_policy/learner_state.hpp"

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

namespace {

/// The learner, with the target updated after every so many environment steps.
class dqn_rule final : public off_policy_learner {
 public:
  dqn_rule(const network_shape& shape, const dqn_config& config, const dqn_options& options)
      : learner_(shape, options, config.seed), every_(config.target_update_steps()) {}

  void update(const transition_batch& batch, double progress_remaining) override {
    last_ = learner_.update(batch, progress_remaining);
  }
  void stepped(std::int64_t before, std::int64_t after) override {
    if (before / every_ != after / every_) learner_.update_target();
  }
  std::span<const float> acting() const override { return learner_.policy().parameters(); }
  named_values metrics() const override {
    return {{"train/loss", last_.loss},
            {"train/q_mean", last_.q_mean},
            {"train/grad_norm", last_.grad_norm},
            {"train/learning_rate", last_.learning_rate},
            {"train/n_updates", static_cast<double>(last_.n_updates)}};
  }
  std::string save() const override { return state_bytes(learner_.state()); }
  void restore(const std::string& bytes) override {
    learner_.set_state(state_of<dqn_learner_state>(bytes));
  }

 private:
  dqn_learner learner_;
  std::int64_t every_;
  dqn_metrics last_;
};

}  // namespace

std::int64_t dqn_config::target_update_steps() const {
  return std::max<std::int64_t>(trainer.target_update_interval / env.n_envs, 1);
}

void describe(options_schema<dqn_training>& s) {
  s.field("lr", &dqn_training::lr).above(0).help("Adam's step size at the start");
  s.field("lr_schedule", &dqn_training::lr_schedule).help("linear: falls to 0 at the end");
  s.field("batch_size", &dqn_training::batch_size)
      .at_least(1)
      .at_most(16'777'216)
      .unit("rows")
      .help("of a gradient step");
  s.field("gamma", &dqn_training::gamma).at_least(0).at_most(1).help("discount a step");
  s.field("target_update_interval", &dqn_training::target_update_interval)
      .at_least(1)
      .unit("environment steps")
      .help("between updates of the target network");
  s.field("tau", &dqn_training::tau)
      .above(0)
      .at_most(1)
      .help("share of the new weights in an update of the target; 1: a copy");
  s.field("max_grad_norm", &dqn_training::max_grad_norm)
      .at_least(0)
      .help("of all parameters together; 0: no clipping");
  s.field("double_q", &dqn_training::double_q)
      .help("the online network chooses the target's action: van Hasselt et al. 2016");
  s.field("adam_eps", &dqn_training::adam_eps).above(0).help("Adam's epsilon");
  s.field("max_skipped_steps", &dqn_training::max_skipped_steps)
      .at_least(1)
      .help("gradient steps in a row with non-finite numbers that end training");
}

void describe(options_schema<epsilon_schedule>& s) {
  s.field("initial", &epsilon_schedule::initial)
      .at_least(0)
      .at_most(1)
      .help("share of random actions at the start");
  s.field("final", &epsilon_schedule::final).at_least(0).at_most(1).help("the same later");
  s.field("fraction", &epsilon_schedule::fraction)
      .at_least(0)
      .at_most(1)
      .help("of total_steps, over which it falls linearly");
}

void describe(options_schema<dqn_config>& s) {
  describe_off_policy(s);
  s.field("trainer", &dqn_config::trainer).help("the update rule");
  s.field("exploration", &dqn_config::exploration).help("random actions of the collectors");
  s.field("policy", &dqn_config::policy).help("the network");
}

trainable trainable_of(const dqn_config& c) {
  dqn_options options = c.trainer;
  options.network = c.policy.options(network_kind::q_values);
  return trainable_of(
      off_policy_algorithm{.settings = settings_of(c, options.network, to_json(c).dump()),
                           .config = c,
                           .batch_size = static_cast<std::size_t>(c.trainer.batch_size),
                           .gamma = c.trainer.gamma,
                           .explore = {.learning_starts = c.collection.learning_starts,
                                       .total_steps = c.total_steps,
                                       .epsilon = c.exploration},
                           .make_learner = [c, options](const network_shape& shape) {
                             return std::make_unique<dqn_rule>(shape, c, options);
                           }});
}

}  // namespace troupe

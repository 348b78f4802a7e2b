#include "algorithms/td3/td3.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/off_policy/learner_state.hpp"

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
  each("actor_loss", state.actor_loss);
  each("skipped_in_a_row", state.skipped_in_a_row);
}

namespace {

class td3_rule final : public off_policy_learner {
 public:
  td3_rule(const network_shape& shape, const td3_options& options, std::uint64_t seed)
      : learner_(shape, options, seed) {}

  void update(const transition_batch& batch, double progress_remaining) override {
    last_ = learner_.update(batch, progress_remaining);
  }
  std::span<const float> acting() const override { return learner_.policy().parameters(); }
  named_values metrics() const override {
    return {{"train/actor_loss", last_.actor_loss},
            {"train/critic_loss", last_.critic_loss},
            {"train/q_mean", last_.q_mean},
            {"train/learning_rate", last_.learning_rate},
            {"train/n_updates", static_cast<double>(last_.n_updates)}};
  }
  std::string save() const override { return state_bytes(learner_.state()); }
  void restore(const std::string& bytes) override {
    learner_.set_state(state_of<td3_learner_state>(bytes));
  }

 private:
  td3_learner learner_;
  td3_metrics last_;
};

template <class Config>
void describe_td3(options_schema<Config>& s) {
  describe_off_policy(s);
  s.field("trainer", &td3_config::trainer).help("the update rule");
  s.field("noise", &td3_config::noise).help("of the collectors' actions");
  s.field("policy", &td3_config::policy).help("the networks");
}

trainable trainable_with(const td3_config& c, std::string resolved) {
  td3_options options = c.trainer;
  options.network = c.policy.options(network_kind::squashed);
  return trainable_of(
      off_policy_algorithm{.settings = settings_of(c, options.network, std::move(resolved)),
                           .config = c,
                           .batch_size = static_cast<std::size_t>(c.trainer.batch_size),
                           .gamma = c.trainer.gamma,
                           .explore = {.learning_starts = c.collection.learning_starts,
                                       .total_steps = c.total_steps,
                                       .noise = c.noise},
                           .make_learner = [options, seed = c.seed](const network_shape& shape) {
                             return std::make_unique<td3_rule>(shape, options, seed);
                           }});
}

}  // namespace

void describe(enum_schema<noise_kind>& s) {
  s.name("none", noise_kind::none)
      .name("normal", noise_kind::normal)
      .name("ornstein_uhlenbeck", noise_kind::ornstein_uhlenbeck);
}

void describe(options_schema<action_noise_options>& s) {
  s.field("kind", &action_noise_options::kind).help("of the noise on actions of -1 to 1");
  s.field("std", &action_noise_options::std).at_least(0).help("its standard deviation, sigma");
  s.field("theta", &action_noise_options::theta)
      .at_least(0)
      .help("of ornstein_uhlenbeck: how fast it returns to 0");
  s.field("dt", &action_noise_options::dt).above(0).help("of ornstein_uhlenbeck: its time step");
}

void describe(options_schema<td3_training>& s) {
  s.field("lr", &td3_training::lr).above(0).help("Adam's step size at the start, of all networks");
  s.field("lr_schedule", &td3_training::lr_schedule).help("linear: falls to 0 at the end");
  s.field("batch_size", &td3_training::batch_size)
      .at_least(1)
      .at_most(16'777'216)
      .unit("rows")
      .help("of a gradient step");
  s.field("gamma", &td3_training::gamma).at_least(0).at_most(1).help("discount a step");
  s.field("tau", &td3_training::tau)
      .above(0)
      .at_most(1)
      .help("share of the new networks in their targets");
  s.field("policy_delay", &td3_training::policy_delay)
      .at_least(1)
      .help("gradient steps of the critics for one of the actor");
  s.field("target_policy_noise", &td3_training::target_policy_noise)
      .at_least(0)
      .help("standard deviation of the noise on target actions of -1 to 1");
  s.field("target_noise_clip", &td3_training::target_noise_clip)
      .at_least(0)
      .help("the largest such noise");
  s.field("n_critics", &td3_training::n_critics)
      .at_least(1)
      .at_most(64)
      .help("the smallest of their values counts");
  s.field("adam_eps", &td3_training::adam_eps).above(0).help("Adam's epsilon");
  s.field("max_skipped_steps", &td3_training::max_skipped_steps)
      .at_least(1)
      .help("gradient steps in a row with non-finite numbers that end training");
}

void describe(options_schema<td3_config>& s) { describe_td3(s); }
void describe(options_schema<ddpg_config>& s) { describe_td3(s); }

trainable trainable_of(const td3_config& c) { return trainable_with(c, to_json(c).dump()); }

trainable trainable_of(const ddpg_config& c) { return trainable_with(c, to_json(c).dump()); }

}  // namespace troupe

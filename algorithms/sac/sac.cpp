#include "algorithms/sac/sac.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/off_policy/learner_state.hpp"

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

namespace {

class sac_rule final : public off_policy_learner {
 public:
  sac_rule(const network_shape& shape, const sac_options& options, std::uint64_t seed)
      : learner_(shape, options, seed) {}

  void update(const transition_batch& batch, double progress_remaining) override {
    last_ = learner_.update(batch, progress_remaining);
  }
  std::span<const float> acting() const override { return learner_.policy().parameters(); }
  named_values metrics() const override {
    return {{"train/actor_loss", last_.actor_loss},
            {"train/critic_loss", last_.critic_loss},
            {"train/ent_coef", last_.ent_coef},
            {"train/ent_coef_loss", last_.ent_coef_loss},
            {"train/entropy", last_.entropy},
            {"train/learning_rate", last_.learning_rate},
            {"train/n_updates", static_cast<double>(last_.n_updates)}};
  }
  std::string save() const override { return state_bytes(learner_.state()); }
  void restore(const std::string& bytes) override {
    learner_.set_state(state_of<sac_learner_state>(bytes));
  }

 private:
  sac_learner learner_;
  sac_metrics last_;
};

}  // namespace

void describe(options_schema<sac_training>& s) {
  s.field("lr", &sac_training::lr)
      .above(0)
      .help("Adam's step size at the start, of all networks and of alpha");
  s.field("lr_schedule", &sac_training::lr_schedule).help("linear: falls to 0 at the end");
  s.field("batch_size", &sac_training::batch_size)
      .at_least(1)
      .at_most(16'777'216)
      .unit("rows")
      .help("of a gradient step");
  s.field("gamma", &sac_training::gamma).at_least(0).at_most(1).help("discount a step");
  s.field("tau", &sac_training::tau)
      .above(0)
      .at_most(1)
      .help("share of the new critics in their targets");
  s.field("target_update_interval", &sac_training::target_update_interval)
      .at_least(1)
      .unit("gradient steps")
      .help("between updates of the targets");
  s.field("n_critics", &sac_training::n_critics)
      .at_least(1)
      .at_most(64)
      .help("the smallest of their values counts");
  s.field("ent_coef", &sac_training::ent_coef)
      .at_least(0)
      .help("weight of the entropy, alpha; null: adapted");
  s.field("initial_ent_coef", &sac_training::initial_ent_coef)
      .above(0)
      .help("where an adapted alpha starts");
  s.field("target_entropy", &sac_training::target_entropy)
      .unit("nats")
      .help("of an adapted alpha; null: minus the numbers of an action");
  s.field("adam_eps", &sac_training::adam_eps).above(0).help("Adam's epsilon");
  s.field("max_skipped_steps", &sac_training::max_skipped_steps)
      .at_least(1)
      .help("gradient steps in a row with non-finite numbers that end training");
}

void describe(options_schema<sac_config>& s) {
  describe_off_policy(s);
  s.field("trainer", &sac_config::trainer).help("the update rule");
  s.field("policy", &sac_config::policy).help("the networks");
}

trainable trainable_of(const sac_config& c) {
  sac_options options = c.trainer;
  options.network = c.policy.options(network_kind::squashed_gaussian);
  return trainable_of(off_policy_algorithm{
      .settings = settings_of(c, options.network, to_json(c).dump()),
      .config = c,
      .batch_size = static_cast<std::size_t>(c.trainer.batch_size),
      .gamma = c.trainer.gamma,
      .explore = {.learning_starts = c.collection.learning_starts, .total_steps = c.total_steps},
      .make_learner = [options, seed = c.seed](const network_shape& shape) {
        return std::make_unique<sac_rule>(shape, options, seed);
      }});
}

}  // namespace troupe

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
void describe_td3(options_schema<Config>& s) {
  describe_off_policy(s);
  s.field("noise", &td3_config::noise).help("of the collectors' actions");
}

template <class Config>
trainable trainable_with(const Config& c) {
  return trainable_of(
      algorithm_of<learner_rule<td3_learner>>(c, network_kind::squashed, {.noise = c.noise}));
}

}  // namespace

void describe(options_schema<td3_training>& s) {
  describe_training(s);
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
}

std::vector<idle_rule> idle_rules_of(const td3_config& c) {
  auto rules = idle_rules_of(static_cast<const off_policy_config&>(c));
  rules.push_back({c.noise.kind == noise_kind::none, "noise.kind is none", {"noise.std"}});
  rules.push_back({c.noise.kind != noise_kind::ornstein_uhlenbeck,
                   "noise.kind is not ornstein_uhlenbeck",
                   {"noise.theta", "noise.dt"}});
  return rules;
}

void describe(options_schema<td3_config>& s) { describe_td3(s); }
void describe(options_schema<ddpg_config>& s) { describe_td3(s); }

trainable trainable_of(const td3_config& c) { return trainable_with(c); }
trainable trainable_of(const ddpg_config& c) { return trainable_with(c); }

}  // namespace troupe

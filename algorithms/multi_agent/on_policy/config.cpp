#include "algorithms/multi_agent/on_policy/config.hpp"

namespace troupe {

network_shape multi_agent_on_policy_config::shape_for(const env_spec& spec) const {
  if (spec.agents.empty()) {
    throw std::invalid_argument(algo + ": expected an environment with several agents, got " +
                                spec.id + ", which has one; ppo learns on it");
  }
  return shape_of_agents(agents, spec, critic, env.options.text);
}

std::vector<std::uint8_t> multi_agent_on_policy_config::trained(const network_shape& shape) const {
  return trained_policies(agents, shape);
}

agent_ppo_options::agent_ppo_options() {
  lr = 1e-3;
  n_epochs = 10;
  batch_size = 600;
  gamma = 0.95;
  gae_lambda = 0.9;
  normalize_value = true;
  ent_coef = 0.003;
  vf_coef = 1.0;
  max_grad_norm = 10.0;
}

void set_multi_agent_defaults(multi_agent_on_policy_config& c) {
  c.env.id = "simple_spread_v3";
  c.env.n_envs = 64;
  c.rollout.n_steps = 25;
}

void describe(enum_schema<central_input>& s) {
  s.name("none", central_input::none)
      .name("observations", central_input::observations)
      .name("state", central_input::state);
}

void describe(options_schema<agent_ppo_options>& s) {
  describe_ppo(s);
  s.field("normalize_value", &agent_ppo_options::normalize_value)
      .also_known_as({"use_valuenorm", "use_popart"})
      .help(
          "If true, the critic learns returns that are normalised by running statistics (Yu et al. "
          "2022, section 5.1).");
  const auto normalizes = [](const agent_ppo_options& o) { return o.normalize_value; };
  s.field("value_norm_decay", &agent_ppo_options::value_norm_decay)
      .has_effect_if("trainer.normalize_value is true", normalizes)
      .at_least(0)
      .below(1)
      .help(
          "The decay of the statistics of returns per update of them. 0.99999 is that of MAPPO's "
          "code, with value_norm_every=minibatch.");
  s.field("value_norm_every", &agent_ppo_options::value_norm_every)
      .has_effect_if("trainer.normalize_value is true", normalizes)
      .help(
          "When the statistics of returns are updated: rollout is once for each rollout, minibatch "
          "is before each gradient step, as in MAPPO's code.");
  describe_reward_scaling(s, &agent_ppo_options::normalize_reward);
}

network_options acting_network_of(const multi_agent_on_policy_config& c) { return c.network(); }

}  // namespace troupe

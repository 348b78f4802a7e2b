#include "algorithms/multi_agent/on_policy/coma/config.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace troupe {

coma_options::coma_options() {
  lr = 5e-4;
  gamma = 0.9;
  gae_lambda = 0.8;
  batch_size = 96;  // two steps of 16 environments with three agents
  n_epochs = 4;
  ent_coef = 0.01;
  max_grad_norm = 10.0;
  optimizer = optimizer_kind::rmsprop;
  baseline = false;  // the acting network's value has no loss
}

coma_config::coma_config() {
  algo = "coma";
  critic = central_input::state;
  agents.shared_reward = 1;
  set_multi_agent_defaults(*this);
  env.n_envs = 16;
}

network_shape coma_config::shape_for(const env_spec& spec) const {
  auto shape = multi_agent_on_policy_config::shape_for(spec);
  for (const auto& agent : spec.agents) {
    if (agent.action_space.get_if<spaces::discrete>()) continue;
    throw std::invalid_argument(
        fmt::format("{}: expected agents with one Discrete action, got {} for \"{}\" of {}", algo,
                    to_string(agent.action_space), agent.name, spec.id));
  }
  return shape;
}

void describe(options_schema<coma_options>& s) {
  describe_lr(s);
  s.field("critic_lr", &coma_options::critic_lr)
      .above(0)
      .help("The step size of the critic's optimiser at the start; lr_schedule holds for it, too.");
  describe_gamma(s);
  s.field("td_lambda", &coma_options::gae_lambda)
      .at_least(0)
      .at_most(1)
      .help("The lambda of the critic's TD(lambda) targets (Foerster et al. 2018, equation 2).");
  s.field("target_interval", &coma_options::target_interval)
      .also_known_as({"target_update_interval"})
      .at_least(1)
      .at_most(1'000'000'000)
      .unit("critic steps")
      .help("The critic is copied to its target network after so many of its steps.");
  s.field("batch_size", &coma_options::batch_size)
      .also_known_as({"minibatch_size"})
      .at_least(1)
      .at_most(1 << 28)
      .unit("rows")
      .help("The number of rows in a minibatch of the critic. The actor's is the whole batch.");
  s.field("critic_epochs", &coma_options::n_epochs)
      .at_least(1)
      .at_most(1'000'000)
      .help("The number of the critic's passes over each rollout, before the actor's step.");
  s.field("ent_coef", &coma_options::ent_coef)
      .also_known_as({"entropy_coef"})
      .at_least(0)
      .help("The weight of the entropy bonus in the actor's loss.");
  s.field("max_grad_norm", &coma_options::max_grad_norm)
      .at_least(0)
      .help(
          "The largest norm of the actor's gradient, and of the critic's; larger gradients are "
          "scaled down to it. 0 means no clipping.");
  describe_optimizer(s);
  s.field("optimizer_eps", &coma_options::optimizer_eps)
      .also_known_as({"optim_eps"})
      .above(0)
      .help("The optimiser's epsilon, which is added to the denominator of its step.");
  describe_reward_scaling(s, &coma_options::normalize_reward);
  s.field("importance_cap", &coma_options::importance_cap)
      .above(0)
      .help("The largest importance weight of stale data; larger weights are cut to it.");
  describe_skips(s);
  s.field("replicas", &coma_options::replicas).unlisted();
}

void describe(options_schema<coma_config>& s) {
  describe_multi_agent_on_policy(s);
  s.field("critic", &coma_config::critic)
      .help(
          "What the critic sees beside an agent's own observation and the actions of the others: "
          "state is the environment's global state, observations are those of all agents.");
  s.option(&coma_config::trainer, &on_policy_options::replicas)
      .must_be("1 with coma", [](const coma_config& c) { return c.trainer.replicas == 1; });
  s.option(&coma_config::critic).must_be("state or observations", [](const coma_config& c) {
    return c.critic != central_input::none;
  });
  s.option(&coma_config::policy, &network_options::shared_hidden)
      .must_be("[] with coma, whose critics see what actors do not",
               [](const coma_config& c) { return c.policy.shared_hidden.empty(); });
  s.option(&coma_config::policy, &network_options::device)
      .must_be("cpu, where coma's critics are",
               [](const coma_config& c) { return c.policy.device == "cpu"; });
}

network_options without_critic(network_options network) {
  network.critic_hidden = std::vector<int>{};
  return network;
}

network_options acting_network_of(const coma_config& config) {
  return without_critic(config.network());
}

}  // namespace troupe

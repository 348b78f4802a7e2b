#include "algorithms/multi_agent/off_policy/maddpg/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace troupe {
namespace {

bool is_finite_box(const space& actions) {
  const auto* box = actions.get_if<spaces::box>();
  const auto finite = [](const std::vector<float>& bounds) {
    return std::ranges::all_of(bounds, [](float x) { return std::isfinite(x); });
  };
  return box && finite(box->low) && finite(box->high);
}

template <class Config>
void describe_maddpg(options_schema<Config>& s) {
  describe_off_policy(s);
  describe_agents(s);
  s.option(&maddpg_config::agents, &agents_section::reward_after_end)
      .has_no_effect(Config().algo + " gives an agent no reward after its end");
  s.field("noise", &maddpg_config::noise)
      .help("The noise that is added to the actions of trained agents in collections.");
  s.field("critic", &maddpg_config::critic)
      .help(
          "What the critics see beside the actions of all agents: observations are those of all "
          "agents, state is the environment's global state.");
}

}  // namespace

maddpg_options::maddpg_options() : td3_options(ddpg_options()) {
  lr = 1e-3;
  gamma = 0.95;
  tau = 0.01;
  network.hidden = {64, 64};
}

maddpg_options matd3_options() {
  const td3_options with;
  maddpg_options options;
  options.policy_delay = with.policy_delay;
  options.target_policy_noise = with.target_policy_noise;
  options.target_noise_clip = with.target_noise_clip;
  options.n_critics = with.n_critics;
  return options;
}

maddpg_config::maddpg_config() {
  algo = "maddpg";
  env.id = "simple_spread_v3";
  env.n_envs = 8;
  collection.learning_starts = 1000;
  noise.kind = noise_kind::normal;
  policy.hidden = {64, 64};
}

matd3_config::matd3_config() {
  algo = "matd3";
  trainer = matd3_options();
}

network_shape maddpg_config::shape_for(const env_spec& spec) const {
  if (spec.agents.empty()) {
    throw std::invalid_argument(
        fmt::format("{}: expected an environment with several agents, got {}, which has one; td3 "
                    "and ddpg learn on it",
                    algo, spec.id));
  }
  for (const auto& agent : spec.agents) {
    if (is_finite_box(agent.action_space)) continue;
    throw std::invalid_argument(fmt::format(
        "{}: expected agents with actions of a Box with finite bounds, got {}, whose agent \"{}\" "
        "has {}; ippo and mappo take any, and particle environments have a Box with "
        "'env.options={{\"continuous_actions\":true}}'",
        algo, spec.id, agent.name, to_string(agent.action_space)));
  }
  const auto sees =
      critic == critic_input::state ? central_input::state : central_input::observations;
  return shape_of_agents(agents, spec, sees, env.options.text);
}

void describe(enum_schema<critic_input>& s) {
  s.name("observations", critic_input::observations).name("state", critic_input::state);
}

void describe(options_schema<maddpg_options>& s) {
  describe_td3_options(s);
  s.field("max_grad_norm", &maddpg_options::max_grad_norm)
      .at_least(0)
      .help(
          "The largest norm of the gradient of one policy's actor, and of its critics; larger "
          "gradients are scaled down to it. 0 means no clipping.");
  describe_reward_scaling(s, &maddpg_options::normalize_reward);
}

void describe(options_schema<maddpg_config>& s) { describe_maddpg(s); }
void describe(options_schema<matd3_config>& s) { describe_maddpg(s); }

}  // namespace troupe

#pragma once
// The options of algorithms for several agents: which policy plays which agent, and what is
// trained.

#include <cstdint>
#include <string>
#include <vector>

#include "actors/environments/environment.hpp"
#include "actors/networks/joint_shape.hpp"
#include "algorithms/on_policy/rollout_writer.hpp"
#include "algorithms/run/config.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

struct agents_section {
  json_object policies = {};
  bool share = true;
  std::vector<std::string> frozen = {};
  json_object scripted = {};
  bool ids = true;
  double shared_reward = 0.0;
  reward_team team = reward_team::all;
  bool reward_after_end = true;
  bool proper_time_limits = true;
  std::string score;
};

void describe(enum_schema<reward_team>& s);
void describe(options_schema<agents_section>& s);

/// Describes the field `agents` of a Config, and what other options must be with several agents.
template <class Config>
void describe_agents(options_schema<Config>& s) {
  s.field("agents", &Config::agents)
      .help("Which policies play which agents, and what they are trained on.");
  s.option(&Config::env, &env_section::normalize_reward)
      .must_be("false with several agents",
               [](const Config& c) { return !c.env.normalize_reward; });
  if constexpr (requires { &Config::replay; }) {
    const std::string only = "false with several agents and a replay buffer";
    s.option(&Config::env, &env_section::normalize_obs).must_be(only, [](const Config& c) {
      return !c.env.normalize_obs;
    });
    using replay = decltype(Config::replay);
    s.option(&Config::replay, &replay::n_step)
        .must_be("1 with several agents", [](const Config& c) { return c.replay.n_step == 1; });
  }
}

/// Returns the name of the policy that plays each agent, [N]. Throws std::invalid_argument that
/// names the environment and what does not fit: a pattern that covers no agent, an agent that two
/// patterns cover or none, and a frozen or scripted policy that plays no agent.
std::vector<std::string> policy_of_agents(const agents_section& section, const env_spec& spec);

/// Returns the shape of the networks of the policies for an environment, and what their critics
/// see. Throws std::invalid_argument as policy_of_agents and joint_shape, and for a scripted policy
/// that is not known.
network_shape shape_of_agents(const agents_section& section, const env_spec& spec,
                              central_input critic, const std::string& env_options);

/// Returns which policies of `shape` learn, [policies]: those that are neither frozen nor scripted.
std::vector<std::uint8_t> trained_policies(const agents_section& section,
                                           const network_shape& shape);

/// Warns of a run in which no policy learns, and of a policy that is both frozen and scripted.
void warn_of_idle_policies(const agents_section& section, const network_shape& shape);

}  // namespace troupe

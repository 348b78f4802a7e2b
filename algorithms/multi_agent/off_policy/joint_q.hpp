#pragma once
// IQL, VDN and QMIX as algorithms for a run. Their roles, episode and update are those of every
// off-policy algorithm (algorithms/off_policy/off_policy.hpp): a transition has the observations,
// the choices, the rewards and the ends of all agents. They differ in their learners.

#include <nlohmann/json_fwd.hpp>
#include <utility>

#include "algorithms/multi_agent/off_policy/config.hpp"
#include "algorithms/off_policy/off_policy_algorithm.hpp"

namespace troupe {

/// Makes an algorithm for a run whose learner is derived from joint_q_learner.
/// Config is derived from joint_q_config. This function must be declared beside it:
///
///   void describe(options_schema<Config>&)
///
/// `own_steps`: the transition of an agent that does not act in every step reaches to the next step
/// in which it acts (agent_steps), and agents are trained on their own rewards, shared as the
/// section `agents` says. Otherwise transitions are single steps. `more` are further arguments of
/// the learner's constructor, behind the section `agents`.
template <class Learner, class Config, class Json = nlohmann::json, class... More>
algorithm joint_q_algorithm(const Config& c, bool own_steps, More... more) {
  auto made = off_policy_algorithm_of<Learner, Config, Json>(
      c, network_kind::q_values, {.epsilon = c.exploration}, c.agents, std::move(more)...);
  made.target_update_steps = target_update_steps(c.trainer, c.env);
  made.settings.shape = [c](const env_spec& spec) { return c.shape_for(spec); };
  made.agents = [own_steps, section = c.agents](const network_shape& shape) {
    warn_of_idle_policies(section, shape);
    return agent_collection{
        .explores = trained_policies(section, shape),
        .reward_shares = own_steps ? reward_shares_of(section, shape) : std::vector<double>(),
        .own_steps = own_steps,
        .reward_after_end = section.shared_reward > 0 && section.reward_after_end,
        .limits_end = !section.proper_time_limits};
  };
  return algorithm_with(std::move(made));
}

}  // namespace troupe

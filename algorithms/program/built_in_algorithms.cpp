#include "algorithms/program/built_in_algorithms.hpp"

#include "algorithms/multi_agent/off_policy/iql/iql.hpp"
#include "algorithms/multi_agent/off_policy/maddpg/maddpg.hpp"
#include "algorithms/multi_agent/off_policy/qmix/qmix.hpp"
#include "algorithms/multi_agent/off_policy/vdn/vdn.hpp"
#include "algorithms/multi_agent/on_policy/coma/coma.hpp"
#include "algorithms/multi_agent/on_policy/ippo/ippo.hpp"
#include "algorithms/multi_agent/on_policy/mappo/mappo.hpp"
#include "algorithms/off_policy/dqn/dqn.hpp"
#include "algorithms/off_policy/q_learning/q_learning.hpp"
#include "algorithms/off_policy/sac/sac.hpp"
#include "algorithms/off_policy/td3/td3.hpp"
#include "algorithms/on_policy/a2c/a2c.hpp"
#include "algorithms/on_policy/impala/impala.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/on_policy/reinforce/reinforce.hpp"

namespace troupe {

std::vector<named_algorithm> built_in_algorithms() {
  return {
      algorithm_of<ppo_config>("ppo", "proximal policy optimisation, sync and async"),
      algorithm_of<a2c_config>("a2c", "advantage actor-critic, sync and async"),
      algorithm_of<impala_config>("impala",
                                  "asynchronous actor-critic with V-trace, sync and async"),
      algorithm_of<reinforce_config>("reinforce",
                                     "Williams's policy gradient, with a baseline or without"),
      algorithm_of<dqn_config>("dqn", "deep Q-learning, discrete actions, sync and async"),
      algorithm_of<q_learning_config>("q_learning",
                                      "tabular Q-learning, discrete states and actions"),
      algorithm_of<sac_config>("sac", "soft actor-critic, continuous actions, sync and async"),
      algorithm_of<td3_config>("td3", "twin delayed DDPG, continuous actions, sync and async"),
      algorithm_of<ddpg_config>("ddpg", "deep deterministic policy gradient, as td3"),
      algorithm_of<ippo_config>("ippo", "independent PPO for several agents, sync and async"),
      algorithm_of<mappo_config>("mappo",
                                 "PPO for several agents with a central critic, sync and async"),
      algorithm_of<coma_config>("coma",
                                "counterfactual policy gradients for several agents, discrete "
                                "actions, sync and async"),
      algorithm_of<iql_config>("iql", "independent Q-learning for several agents, sync and async"),
      algorithm_of<vdn_config>("vdn", "value decomposition networks, a team of agents"),
      algorithm_of<qmix_config>("qmix", "monotonic mixing of values, a team of agents"),
      algorithm_of<maddpg_config>("maddpg",
                                  "DDPG for several agents with central critics, continuous "
                                  "actions, sync and async"),
      algorithm_of<matd3_config>("matd3", "twin delayed DDPG for several agents, as maddpg"),
  };
}

}  // namespace troupe

#include "algorithms/off_policy/dqn/dqn.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/off_policy/off_policy_algorithm.hpp"

namespace troupe {

algorithm algorithm_with(const dqn_config& c) {
  const auto kind = c.trainer.dueling ? network_kind::dueling_q_values : network_kind::q_values;
  auto made = off_policy_algorithm_of<dqn_learner>(c, kind, {.epsilon = c.exploration});
  made.target_update_steps = target_update_steps(c.trainer, c.env);
  return algorithm_with(std::move(made));
}

}  // namespace troupe

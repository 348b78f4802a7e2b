#include "algorithms/off_policy/dqn/dqn.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/off_policy/learner_adapter.hpp"

namespace troupe {

named_values named(const dqn_metrics& m) {
  return {{"train/loss", m.loss}, {"train/q_mean", m.q_mean}, {"train/grad_norm", m.grad_norm}};
}

algorithm algorithm_with(const dqn_config& c) {
  const auto kind = c.trainer.dueling ? network_kind::dueling_q_values : network_kind::q_values;
  return algorithm_with(off_policy_algorithm_of<target_adapter<dqn_learner>>(
      c, kind, {.epsilon = c.exploration}, target_update_steps(c.trainer, c.env)));
}

}  // namespace troupe

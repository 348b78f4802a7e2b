#include "algorithms/off_policy/sac/sac.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/off_policy/learner_adapter.hpp"

namespace troupe {

named_values named(const sac_metrics& m) {
  named_values columns{{"train/actor_loss", m.actor_loss},
                       {"train/critic_loss", m.critic_loss},
                       {"train/ent_coef", m.ent_coef},
                       {"train/entropy", m.entropy}};
  if (m.trained_ent_coef) columns.emplace_back("train/ent_coef_loss", m.ent_coef_loss);
  return columns;
}

algorithm algorithm_with(const sac_config& c) {
  return algorithm_with(
      off_policy_algorithm_of<learner_adapter<sac_learner>>(c, network_kind::squashed_gaussian));
}

}  // namespace troupe

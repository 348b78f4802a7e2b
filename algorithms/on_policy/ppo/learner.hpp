#pragma once
// PPO's loss (Schulman et al. 2017, https://arxiv.org/abs/1707.06347, equations 7 and 9) and the
// learner with it.

#include "algorithms/on_policy/learner.hpp"
#include "algorithms/on_policy/ppo/config.hpp"

namespace troupe {

/// The clipped surrogate with value loss and entropy bonus. The clip range follows clip_schedule.
on_policy_loss loss_of(const ppo_options& options);

/// The on-policy learner with PPO's loss.
class ppo_learner : public on_policy_learner {
 public:
  /// Throws std::invalid_argument that names the option if one is out of range.
  ppo_learner(const network_shape& shape, const ppo_options& options, std::uint64_t seed);
};

/// The learner of a run.
on_policy_learner make_learner(const network_shape& shape, const ppo_config& config);

}  // namespace troupe

#pragma once
// What of an on-policy update is PPO's own: its loss, Schulman et al. 2017,
// https://arxiv.org/abs/1707.06347, equations 7 and 9.

#include "algorithms/on_policy/learner.hpp"
#include "algorithms/on_policy/ppo/config.hpp"

namespace troupe {

/// The clipped surrogate with value loss and entropy bonus; the clip range follows its schedule.
on_policy_loss loss_of(const ppo_options& options);

/// The learner with PPO's loss.
class ppo_learner : public on_policy_learner {
 public:
  /// Throws std::invalid_argument naming an option out of range.
  ppo_learner(const network_shape& shape, const ppo_options& options, std::uint64_t seed);
};

/// The learner of a run.
on_policy_learner make_learner(const network_shape& shape, const ppo_config& config);

}  // namespace troupe

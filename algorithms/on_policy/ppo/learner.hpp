#pragma once
// What of an on-policy update is PPO's own: its loss, Schulman et al. 2017,
// https://arxiv.org/abs/1707.06347, equations 7 and 9.

#include "algorithms/on_policy/learner.hpp"
#include "algorithms/on_policy/ppo/ppo_options.hpp"

namespace troupe {

using ppo_metrics = on_policy_report;

/// The options of PPO's update but for those of its loss.
update_options update_options_of(const ppo_options& options);
/// The clipped surrogate with value loss and entropy bonus; the clip range follows its schedule.
on_policy_loss loss_of(const ppo_options& options);

/// The learner with PPO's loss.
class ppo_learner : public on_policy_learner {
 public:
  /// Throws std::invalid_argument naming an option out of range.
  ppo_learner(const network_shape& shape, const ppo_options& options, std::uint64_t seed);
};

}  // namespace troupe

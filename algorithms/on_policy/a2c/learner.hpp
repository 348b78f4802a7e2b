#pragma once
// What of an on-policy update is A2C's own: one step on the whole batch, by the policy gradient.
// Mnih et al. 2016, https://arxiv.org/abs/1602.01783, section 4.

#include "algorithms/on_policy/a2c/a2c.hpp"
#include "algorithms/on_policy/learner.hpp"

namespace troupe {

/// The options of A2C's update but for those of its loss.
update_options update_options_of(const a2c_config& config);
/// The policy gradient with value loss and entropy bonus.
on_policy_loss loss_of(const a2c_options& options);

/// The learner with A2C's loss.
class a2c_learner : public on_policy_learner {
 public:
  /// Throws std::invalid_argument naming an option out of range.
  a2c_learner(const network_shape& shape, const a2c_config& config, std::uint64_t seed);
};

}  // namespace troupe

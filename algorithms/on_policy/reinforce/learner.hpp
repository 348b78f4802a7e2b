#pragma once
// What of an on-policy update is REINFORCE's own: one step on the whole episodes of a batch, by the
// policy gradient of returns. Williams 1992, https://doi.org/10.1007/BF00992696, equation 11.

#include "algorithms/on_policy/learner.hpp"
#include "algorithms/on_policy/reinforce/reinforce.hpp"

namespace troupe {

/// The options of REINFORCE's update but for those of its loss.
update_options update_options_of(const reinforce_config& config);
/// The policy gradient; with a baseline the critic's loss is added.
on_policy_loss loss_of(const reinforce_options& options);

/// The learner with REINFORCE's loss.
class reinforce_learner : public on_policy_learner {
 public:
  /// Throws std::invalid_argument naming an option out of range.
  reinforce_learner(const network_shape& shape, const reinforce_config& config, std::uint64_t seed);
};

}  // namespace troupe

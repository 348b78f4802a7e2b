#pragma once
// QMIX's learner. It can be used without a run.

#include "algorithms/multi_agent/off_policy/learner.hpp"
#include "algorithms/multi_agent/off_policy/qmix/config.hpp"

namespace troupe {

/// The update rule of QMIX (Rashid et al. 2018, https://arxiv.org/abs/1803.11485): a mixing network
/// makes the team's value of the agents' values, and is learned with them from the team's reward,
/// the mean of all agents' rewards.
class qmix_learner : public joint_q_learner {
 public:
  /// The arguments and the errors are those of joint_q_learner and mixing_network. All policies are
  /// trained.
  qmix_learner(const network_shape& shape, const joint_q_options& options, std::uint64_t seed,
               const agents_section& agents = {}, const mixer_section& mixer = {});
};

}  // namespace troupe

#pragma once
// VDN's learner. It can be used without a run.

#include "algorithms/multi_agent/off_policy/learner.hpp"
#include "algorithms/multi_agent/off_policy/vdn/config.hpp"

namespace troupe {

/// The sum of the agents' values, Q_tot = sum of Q_i (Sunehag et al. 2017,
/// https://arxiv.org/abs/1706.05296, section 3). It has no parameters.
class sum_mixer final : public value_mixer {
 public:
  tensor_layout layout() const override { return {}; }
  void initialise(action_random&, float*) const override {}
  variable mix(variable, variable q, const parameter_block&, std::size_t) override {
    return row_sum(q);
  }
};

/// The update rule of value decomposition networks: the sum of the agents' values is learned from
/// the team's reward, the mean of all agents' rewards.
class vdn_learner : public joint_q_learner {
 public:
  /// The arguments and the errors are those of joint_q_learner. All policies are trained.
  vdn_learner(const network_shape& shape, const joint_q_options& options, std::uint64_t seed,
              const agents_section& agents = {});
};

}  // namespace troupe

#pragma once
// TD3 (Fujimoto et al. 2018, https://arxiv.org/abs/1802.09477) and DDPG
// (Lillicrap et al. 2016, https://arxiv.org/abs/1509.02971) as casts of
// services; see off_policy/off_policy.hpp for who is in them.

#include "algorithms/off_policy/off_policy.hpp"
#include "algorithms/off_policy/td3/learner.hpp"

namespace troupe {

/// For train_in and train.
algorithm algorithm_with(const td3_config& config);
algorithm algorithm_with(const ddpg_config& config);

}  // namespace troupe

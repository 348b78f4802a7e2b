#pragma once
// TD3 (Fujimoto et al. 2018, https://arxiv.org/abs/1802.09477) and DDPG
// (Lillicrap et al. 2016, https://arxiv.org/abs/1509.02971) as casts of
// services; see off_policy/off_policy.hpp for who is in them.

#include "algorithms/off_policy/off_policy.hpp"
#include "algorithms/off_policy/td3/td3_learner.hpp"

namespace troupe {

/// For train_in and run_training.
trainable trainable_of(const td3_config& config);
trainable trainable_of(const ddpg_config& config);

}  // namespace troupe

#pragma once
// IMPALA: asynchronous actor-critic with V-trace (Espeholt et al. 2018,
// https://arxiv.org/abs/1802.01561). With clipping and several steps on a batch it is APPO
// (asynchronous PPO).
//
// Roles, episode and update are those of every on-policy algorithm
// (algorithms/on_policy/on_policy.hpp). The learner corrects rows that older weights made by
// V-trace in place of the truncated weights of PPO and A2C.

#include "algorithms/on_policy/impala/config.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// The algorithm IMPALA with that configuration, for train().
algorithm algorithm_with(const impala_config& config);

}  // namespace troupe

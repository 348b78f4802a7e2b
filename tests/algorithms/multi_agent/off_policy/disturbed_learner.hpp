#pragma once
// A learner of MADDPG for tests. Comes after actors/torch/torch.hpp.

#include "algorithms/multi_agent/off_policy/maddpg/learner.hpp"
#include "tests/algorithms/gradients/random_case.hpp"
#include "tests/algorithms/learner_parts.hpp"

namespace troupe {

/// A learner whose targets and networks differ.
inline maddpg_learner disturbed(case_random& random, maddpg_learner learner) {
  auto state = parts_of(learner);
  disturb(random, state["actors"]);
  disturb(random, state["target_actors"]);
  for (const auto& policy : learner.networks().shape().policies) {
    disturb(random, state[policy.name + ".critics"]);
    disturb(random, state[policy.name + ".target_critics"]);
  }
  set_parts(learner, state);
  return learner;
}

}  // namespace troupe

#pragma once
// A learner of MADDPG for tests. Comes after actors/torch/torch.hpp.

#include "algorithms/multi_agent/off_policy/maddpg/learner.hpp"
#include "tests/algorithms/gradients/random_case.hpp"

namespace troupe {

/// A learner whose targets and networks differ.
inline maddpg_learner disturbed(case_random& random, maddpg_learner learner) {
  auto state = learner.state();
  disturb(random, state.actors);
  disturb(random, state.target_actors);
  for (auto& of : state.policies) {
    disturb(random, of.critics);
    disturb(random, of.target_critics);
  }
  learner.set_state(state);
  return learner;
}

}  // namespace troupe

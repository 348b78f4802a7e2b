#pragma once
// Two agents whose values can be worked out by hand.

#include "actors/environments/agent_layout.hpp"
#include "actors/networks/joint_shape.hpp"
#include "algorithms/off_policy/transition_batch.hpp"
#include "tests/algorithms/learner_parts.hpp"

namespace troupe::testing {

/// Agents a and b see a number each and choose 0 or 1. They may come and go, and choices may be
/// forbidden; the state is one number. A row is [a, b, state, a acts, b acts, a's mask, b's mask].
inline env_spec two_agents_spec() {
  const space number = spaces::box(-100, 100, {1});
  return with_joint_spaces(
      {.id = "TwoAgents-v0",
       .agents = {{"a", number, spaces::discrete(2)}, {"b", number, spaces::discrete(2)}},
       .state_space = number,
       .agents_vary = true,
       .action_masks = true});
}

inline network_shape two_agents() { return joint_shape(two_agents_spec(), {"a", "b"}, {}); }

/// One transition: both see 1, a chooses 0 and b chooses 1, and then both see 2.
inline transition_batch one_step() {
  transition_batch batch;
  batch.resize(1, two_agents());
  batch.obs = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  batch.next_obs = {2, 2, 1, 1, 1, 1, 1, 1, 1};
  batch.choice = {0, 1};
  batch.reward = {0.5f};
  batch.agent_reward = {0.25f, 0.75f};
  batch.terminated = {0};
  batch.agent_terminated = {0, 0};
  batch.discount = {0.9f};
  return batch;
}

/// Makes Q_a(x) = (x, 2 x) and Q_b(x) = (3 x, x) online, (10 x, 3 x) and (5 x, 4 x) in the target.
/// The learner's networks have no hidden layer.
template <class Learner>
void set_values(Learner& learner) {
  auto state = parts_of(learner);
  const std::vector<float> online{1, 2, 0, 0, 3, 1, 0, 0}, target{10, 3, 0, 0, 5, 4, 0, 0};
  std::ranges::copy(online, state["parameters"].begin());
  std::ranges::copy(target, state["target"].begin());
  set_parts(learner, state);
}

}  // namespace troupe::testing

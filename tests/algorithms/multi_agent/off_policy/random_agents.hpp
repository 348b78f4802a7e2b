#pragma once
// Random environments with several agents, and batches of their transitions. Comes after
// actors/torch/torch.hpp.

#include <string>
#include <vector>

#include "actors/environments/agent_layout.hpp"
#include "actors/networks/joint_shape.hpp"
#include "tests/algorithms/gradients/random_case.hpp"

namespace troupe {

/// Up to five agents of up to as many policies, with numbers of their own or without. Agents may
/// come and go, and choices may be forbidden. There is a state.
inline network_shape random_agents(case_random& random) {
  const int count = random.between(1, 5);
  const int policies = random.between(1, count);
  std::vector<agent_spec> kinds;
  for (int i = 0; i < policies; ++i) {
    kinds.push_back(
        {"", spaces::box(-1, 1, {random.between(1, 8)}), spaces::discrete(random.between(2, 6))});
  }
  env_spec spec{.id = "Random-v0"};
  std::vector<std::string> policy_of_agent;
  for (int i = 0; i < count; ++i) {
    const int policy = i < policies ? i : random.between(0, policies - 1);
    policy_of_agent.push_back("policy_" + std::to_string(policy));
    spec.agents.push_back(kinds[static_cast<std::size_t>(policy)]);
    spec.agents.back().name = "agent_" + std::to_string(i);
  }
  spec.state_space = spaces::box(-1, 1, {random.between(1, 10)});
  spec.agents_vary = random.flip();
  spec.action_masks = random.flip();
  return joint_shape(with_joint_spaces(spec), policy_of_agent, {.agent_ids = random.flip()});
}

/// Draws who acts and what is allowed in rows of observations. Some masks forbid everything.
inline void draw_flags(case_random& random, const network_shape& shape, std::vector<float>& obs) {
  const auto width = static_cast<std::size_t>(shape.obs_size);
  for (std::size_t row = 0; row < obs.size(); row += width) {
    for (const auto& agent : shape.agents) {
      const int choices = shape.policies[static_cast<std::size_t>(agent.policy)].mask_size;
      if (agent.active >= 0) obs[row + static_cast<std::size_t>(agent.active)] = random.flip();
      for (int i = 0; i < choices; ++i) {
        obs[row + static_cast<std::size_t>(agent.mask_begin + i)] = random.flip();
      }
    }
  }
}

inline transition_batch random_joint_batch(case_random& random, const network_shape& shape,
                                           int rows) {
  transition_batch batch;
  batch.resize(rows, shape);
  for (auto* column : {&batch.obs, &batch.next_obs, &batch.reward, &batch.agent_reward}) {
    random.fill_normal(*column);
  }
  draw_flags(random, shape, batch.obs);
  draw_flags(random, shape, batch.next_obs);
  const auto counts = shape.choices();
  for (std::size_t i = 0; i < batch.choice.size(); ++i) {
    batch.choice[i] = random.between(0, counts[i % counts.size()] - 1);
  }
  for (auto* column : {&batch.terminated, &batch.agent_terminated}) {
    for (auto& t : *column) t = random.below(5) == 0 ? 1.0f : 0.0f;
  }
  for (auto& d : batch.discount) d = static_cast<float>(random.between(0.8, 1.0));
  if (random.flip()) {
    batch.weight.resize(static_cast<std::size_t>(rows));
    for (auto& w : batch.weight) w = static_cast<float>(random.between(0.05, 1.0));
  }
  return batch;
}

inline transition_batch random_float_batch(case_random& random, const network_shape& shape,
                                           int rows) {
  auto batch = random_joint_batch(random, shape, rows);
  for (auto& a : batch.action) a = static_cast<float>(random.between(-1.0, 1.0));
  return batch;
}

/// Four agents of two policies, which come and go.
inline network_shape four_agents(central_input critic = central_input::observations) {
  const space seen = spaces::box(-1, 1, {3}), other = spaces::box(-1, 1, {2});
  const space one = spaces::box(-1, 1, {1}), two = spaces::box(-1, 1, {2});
  return joint_shape(
      with_joint_spaces(
          {.id = "Four-v0",
           .agents = {{"a", seen, two}, {"b", other, one}, {"c", seen, two}, {"d", other, one}},
           .state_space = spaces::box(-1, 1, {5}),
           .agents_vary = true}),
      {"p", "q", "p", "q"}, {.critic = critic});
}

}  // namespace troupe

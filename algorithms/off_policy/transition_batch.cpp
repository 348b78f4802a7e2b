#include "algorithms/off_policy/transition_batch.hpp"

#include <stdexcept>
#include <string>

#include "actors/random/action_random.hpp"

namespace troupe {

void transition_batch::resize(int count, const network_shape& shape) {
  rows = count;
  const auto n = static_cast<std::size_t>(count);
  obs.resize(n * shape.obs_size);
  next_obs.resize(n * shape.obs_size);
  action.resize(n * shape.continuous_size);
  choice.resize(shape.is_continuous() ? 0 : n * shape.action_size());
  reward.resize(n);
  terminated.resize(n);
  discount.resize(n);
  agent_reward.resize(n * shape.agents.size());
  agent_terminated.resize(n * shape.agents.size());
  weight.clear();
}

transition_batch random_batch(const network_shape& shape, int rows, std::uint64_t seed) {
  action_random random(seed);
  transition_batch batch;
  batch.resize(rows, shape);
  for (auto* column : {&batch.obs, &batch.next_obs, &batch.reward, &batch.agent_reward}) {
    random.fill_normal(*column);
  }
  for (auto& a : batch.action) a = static_cast<float>(2.0 * random.uniform() - 1.0);
  const auto choices = shape.choices();
  for (std::size_t i = 0; i < batch.choice.size(); ++i) {
    batch.choice[i] = static_cast<std::int64_t>(random.below(choices[i % choices.size()]));
  }
  for (auto* column : {&batch.terminated, &batch.agent_terminated}) {
    for (auto& t : *column) t = random.below(4) == 0 ? 1.0f : 0.0f;
  }
  for (auto& d : batch.discount) d = 0.97f;
  return batch;
}

void check(const transition_batch& batch, const network_shape& shape) {
  if (batch.rows < 1) {
    throw std::invalid_argument("transition batch: rows = " + std::to_string(batch.rows) +
                                ", expected at least 1");
  }
  const auto n = static_cast<std::size_t>(batch.rows);
  const auto expect = [](const char* column, std::size_t got, std::size_t expected) {
    if (got == expected) return;
    throw std::invalid_argument(std::string("transition batch: ") + column + " has " +
                                std::to_string(got) + " numbers, expected " +
                                std::to_string(expected));
  };
  expect("obs", batch.obs.size(), n * shape.obs_size);
  expect("next_obs", batch.next_obs.size(), n * shape.obs_size);
  expect("action", batch.action.size(), n * shape.continuous_size);
  expect("choice", batch.choice.size(), shape.is_continuous() ? 0 : n * shape.action_size());
  expect("reward", batch.reward.size(), n);
  expect("terminated", batch.terminated.size(), n);
  expect("discount", batch.discount.size(), n);
  expect("agent_reward", batch.agent_reward.size(), n * shape.agents.size());
  expect("agent_terminated", batch.agent_terminated.size(), n * shape.agents.size());
  if (!batch.weight.empty()) expect("weight", batch.weight.size(), n);
  const auto& several = shape.multi_discrete;  // one choice of each agent
  for (std::size_t i = 0; i < batch.choice.size(); ++i) {
    const auto choice = batch.choice[i];
    const int count = several.empty() ? shape.discrete_actions : several[i % several.size()];
    if (choice >= 0 && choice < count) continue;
    throw std::invalid_argument("transition batch: action " + std::to_string(choice) +
                                " is no choice, expected 0 to " + std::to_string(count - 1));
  }
}

}  // namespace troupe

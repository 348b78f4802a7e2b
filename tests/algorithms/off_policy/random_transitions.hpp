#pragma once
// Batches for off-policy learners.

#include <cstdint>

#include "actors/random/action_random.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

/// Random transitions of any shape, a quarter of them the last of their episodes. Choices are below
/// four.
inline transition_batch random_transitions(const network_shape& shape, int rows,
                                           std::uint64_t seed) {
  action_random random(seed);
  transition_batch batch;
  batch.resize(rows, shape);
  for (auto* column : {&batch.obs, &batch.next_obs, &batch.reward}) random.fill_normal(*column);
  for (auto& a : batch.action) a = static_cast<float>(2.0 * random.uniform() - 1.0);
  for (auto& c : batch.choice) c = static_cast<std::int64_t>(random.below(4));
  for (auto& t : batch.terminated) t = random.below(4) == 0 ? 1.0f : 0.0f;
  for (auto& d : batch.discount) d = 0.97f;
  return batch;
}

}  // namespace troupe

#pragma once
#include "actors/networks/actor_critic.hpp"
#include "algorithms/on_policy/rollout_batch.hpp"

namespace troupe {

/// A batch that `model` itself acted in, with ends of both kinds.
rollout_batch acted_batch(actor_critic& model, std::int64_t T, std::int64_t B,
                          std::uint64_t seed = 1);

}  // namespace troupe

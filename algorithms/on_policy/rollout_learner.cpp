#include "actors/torch.hpp"

#include "algorithms/on_policy/rollout_learner.hpp"

#include "actors/checkpoint/state_codec.hpp"
#include "actors/wire/tensor_codec.hpp"

namespace troupe {

rollout_batch rollout_learner::shard_of(rollout_batch whole) const {
  if (!ranks_) return whole;
  const auto rank = static_cast<std::int64_t>(ranks_->rank());
  const auto world = static_cast<std::int64_t>(ranks_->world());
  const auto environments = whole.environments();
  const auto first = environments * rank / world;
  return of_environments(whole, first, environments * (rank + 1) / world - first);
}

std::string rollout_learner::save() const {
  auto state = learner_.state();
  state.parameters = at::Tensor();
  return state_bytes(state);
}

void rollout_learner::restore(const std::string& bytes) {
  auto state = state_of<ppo_learner_state>(bytes);
  state.parameters = learner_.model().parameters();
  try {
    learner_.set_state(state);
  } catch (const std::invalid_argument& e) {
    throw state_error(std::string("saved learner: ") + e.what());
  }
}

}  // namespace troupe

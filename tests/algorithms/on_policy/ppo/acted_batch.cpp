#include "actors/torch/torch.hpp"

#include "tests/algorithms/on_policy/ppo/acted_batch.hpp"

namespace troupe {

rollout_batch acted_batch(actor_critic& model, std::int64_t T, std::int64_t B, std::uint64_t seed) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  action_random random(seed);
  const std::int64_t D = model.shape().obs_size;
  rollout_batch batch;
  batch.obs = at::randn({T, B, D}, generator);
  const auto acted = model.act(batch.obs.flatten(0, 1), random);
  auto action_sizes = acted.action.sizes().vec();
  action_sizes.erase(action_sizes.begin());
  action_sizes.insert(action_sizes.begin(), {T, B});
  batch.action = acted.action.view(action_sizes);
  batch.log_prob = acted.log_prob.view({T, B});
  batch.value = acted.value.view({T, B});
  batch.reward = at::randn({T, B}, generator);
  batch.terminated = at::rand({T, B}, generator) < 0.1;
  batch.truncated = at::rand({T, B}, generator) < 0.1;
  batch.final_index = batch.truncated.nonzero();
  batch.final_obs = at::randn({batch.final_index.size(0), D}, generator);
  batch.final_value = at::zeros({T, B});
  batch.final_value.index_put_({batch.truncated}, model.values(batch.final_obs));
  batch.bootstrap_obs = at::randn({B, D}, generator);
  batch.bootstrap_value = model.values(batch.bootstrap_obs);
  return batch;
}

}  // namespace troupe

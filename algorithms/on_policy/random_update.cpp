#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/random_update.hpp"

#include <utility>

namespace troupe {
namespace {

constexpr std::int64_t steps = 16, environments = 4;

/// The rows of all steps as [T, B, ...].
at::Tensor by_steps(const at::Tensor& rows) {
  if (!rows.defined()) return rows;
  auto sizes = rows.sizes().vec();
  sizes.erase(sizes.begin());
  sizes.insert(sizes.begin(), {steps, environments});
  return rows.view(sizes);
}

/// Moves the weights away from those that training begins with: there the entropy is almost at its
/// maximum, where it has no derivative.
void move_weights(actor_critic& model, const at::Generator& generator) {
  const auto count = model.trained_count();
  model.parameters().narrow(0, 0, count).add_(at::randn({count}, generator), 0.1);
}

rollout_batch random_rollout(actor_critic& model, std::uint64_t seed,
                             const at::Generator& generator) {
  action_random random(seed);
  const std::int64_t D = model.shape().obs_size;
  rollout_batch batch;
  batch.obs = at::randn({steps, environments, D}, generator);
  const auto acted = model.act(batch.obs.flatten(0, 1), random);
  batch.action = by_steps(acted.action);
  batch.continuous = by_steps(acted.continuous);
  batch.log_prob = by_steps(acted.log_prob) + 0.1 * at::randn({steps, environments}, generator);
  batch.value = by_steps(acted.value);
  batch.reward = at::randn({steps, environments}, generator);
  batch.terminated = at::rand({steps, environments}, generator) < 0.1;
  batch.truncated = at::rand({steps, environments}, generator) < 0.1;
  batch.final_index = batch.truncated.nonzero();
  batch.final_obs = at::randn({batch.final_index.size(0), D}, generator);
  batch.final_value = at::zeros({steps, environments});
  batch.final_value.index_put_({batch.truncated}, model.values(batch.final_obs));
  batch.bootstrap_obs = at::randn({environments, D}, generator);
  batch.bootstrap_value = model.values(batch.bootstrap_obs);
  return batch;
}

}  // namespace

std::function<void()> random_update(std::shared_ptr<on_policy_learner> learner,
                                    std::uint64_t seed) {
  const at::NoGradGuard no_grad;
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  move_weights(learner->model(), generator);
  auto batch = random_rollout(learner->model(), seed, generator);
  return [learner = std::move(learner), batch = std::move(batch)] { learner->update(batch); };
}

}  // namespace troupe

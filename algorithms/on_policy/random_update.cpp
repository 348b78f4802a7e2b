#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/random_update.hpp"

#include <utility>

#include "algorithms/on_policy/random_rollout.hpp"

namespace troupe {

std::function<void()> random_update(std::shared_ptr<on_policy_learner> learner,
                                    std::uint64_t seed) {
  constexpr std::int64_t environments = 4;
  const at::NoGradGuard no_grad;
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  action_random random(seed);
  auto& model = learner->model();
  detail::move_weights(model, generator);
  auto batch = to_batch({detail::random_rollout(model, environments, random, generator)},
                        model.shape(), false);
  return [learner = std::move(learner), batch = std::move(batch)] { learner->update(batch); };
}

}  // namespace troupe

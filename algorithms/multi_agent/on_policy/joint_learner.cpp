#include "actors/torch/torch.hpp"

#include "algorithms/multi_agent/on_policy/joint_learner.hpp"

#include "actors/random/derived_seed.hpp"
#include "algorithms/on_policy/ppo/learner.hpp"

namespace troupe {

rollout_batch batch_of_policy(const joint_batch& b, std::size_t index, const network_shape& own) {
  std::vector<rollout> rollouts;
  for (const auto& r : b.rollouts) rollouts.push_back(r.of_policy[index]);
  auto batch = to_batch(rollouts, own, b.stale);
  if (std::ranges::all_of(b.rollouts, [](const auto& r) { return r.after_end.empty(); })) {
    return batch;
  }
  std::vector<at::Tensor> acted;
  for (const auto& r : b.rollouts) {
    const auto& of = r.of_policy[index];
    auto all = at::ones({of.steps, of.environments}, at::kBool);
    bool* row = all.data_ptr<bool>();
    if (!r.after_end.empty()) {
      for (const auto after : r.after_end[index]) *row++ = !after;
    }
    acted.push_back(all);
  }
  batch.acted = at::cat(acted, 1);
  return batch;
}

std::uint64_t seed_of_policy(std::uint64_t seed, std::size_t index) {
  return index == 0 ? seed : derived_seed(seed, "policy's learner", {index});
}

std::unique_ptr<joint_learner> ppo_learners(const network_shape& shape, const ppo_options& options,
                                            std::vector<std::uint8_t> trained, std::uint64_t seed,
                                            const char* name) {
  std::vector<std::unique_ptr<learner<rollout_batch>>> learners;
  for (std::size_t i = 0; i < shape.policies.size(); ++i) {
    learners.push_back(std::make_unique<on_policy_learner>(shape_of(shape.policies[i]), options,
                                                           loss_of(checked_options(options, name)),
                                                           seed_of_policy(seed, i)));
  }
  const auto batch_of = [shape](const joint_batch& b, std::size_t i) {
    return batch_of_policy(b, i, shape_of(shape.policies[i]));
  };
  return std::make_unique<separate_learners<rollout_batch>>(
      name, learning_of(options), shape, std::move(learners), batch_of, std::move(trained));
}

}  // namespace troupe

#include "actors/torch/torch.hpp"

#include "algorithms/multi_agent/on_policy/joint_learner.hpp"

#include "actors/checkpoint/state_codec.hpp"
#include "actors/random/derived_seed.hpp"
#include "algorithms/on_policy/ppo/learner.hpp"

namespace troupe {

joint_learner::joint_learner(network_shape shape, std::vector<on_policy_learner> learners,
                             std::vector<std::uint8_t> trained)
    : shape_(std::move(shape)), learners_(std::move(learners)), trained_(std::move(trained)) {
  std::int64_t count = 0;
  for (const auto& learner : learners_) {
    first_.push_back(count);
    count += learner.parameters().numel();
  }
  parameters_ = at::empty({count}, at::kFloat);
  for (std::size_t i = 0; i < learners_.size(); ++i) gather_parameters(i);
}

void joint_learner::gather_parameters(std::size_t policy) {
  const auto& own = learners_[policy].parameters();
  parameters_.narrow(0, first_[policy], own.numel()).copy_(own);
}

joint_report joint_learner::update(const joint_batch& b) {
  joint_report made;
  for (const auto& r : b.rollouts) check(r, shape_);
  for (std::size_t i = 0; i < learners_.size(); ++i) {
    made.of_policy.emplace_back();
    if (!trained_[i]) continue;
    std::vector<rollout> own;
    for (const auto& r : b.rollouts) own.push_back(r.of_policy[i]);
    auto& learner = learners_[i];
    made.of_policy.back() = learner.update(to_batch(own, learner.model().shape(), b.stale),
                                           b.progress_remaining, b.chosen_lr);
    gather_parameters(i);
  }
  return made;
}

void joint_learner::load_parameters(const at::Tensor& p) {
  TORCH_CHECK(p.scalar_type() == at::kFloat && p.sizes() == parameters_.sizes(),
              "parameters of several policies must be float ", parameters_.sizes(), ", got ",
              p.scalar_type(), " ", p.sizes());
  parameters_.copy_(p);
  for (std::size_t i = 0; i < learners_.size(); ++i) {
    auto& model = learners_[i].model();
    model.load_parameters(p.narrow(0, first_[i], model.parameter_count()));
  }
}

std::string joint_learner::save() const {
  std::vector<std::string> states;
  for (const auto& learner : learners_) states.push_back(learner.save());
  return state_bytes(states);
}

void joint_learner::restore(const std::string& bytes) {
  const auto states = state_of<std::vector<std::string>>(bytes);
  if (states.size() != learners_.size()) {
    throw state_error("saved learners: expected those of " + std::to_string(learners_.size()) +
                      " policies, got " + std::to_string(states.size()));
  }
  for (std::size_t i = 0; i < learners_.size(); ++i) learners_[i].restore(states[i]);
}

joint_learner ppo_learners(const network_shape& shape, const ppo_options& options,
                           std::vector<std::uint8_t> trained, std::uint64_t seed,
                           const char* name) {
  std::vector<on_policy_learner> learners;
  for (std::size_t i = 0; i < shape.policies.size(); ++i) {
    const auto own_seed = i == 0 ? seed : derived_seed(seed, "policy's learner", {i});
    learners.emplace_back(shape_of(shape.policies[i]), options,
                          loss_of(checked_options(options, name)), own_seed);
  }
  return {shape, std::move(learners), std::move(trained)};
}

}  // namespace troupe

#include "actors/torch/torch.hpp"

#include "algorithms/multi_agent/on_policy/joint_learner.hpp"

#include <algorithm>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/random/derived_seed.hpp"
#include "algorithms/on_policy/ppo/learner.hpp"

namespace troupe {

separate_learners::separate_learners(network_shape shape,
                                     std::vector<std::unique_ptr<policy_learner>> learners,
                                     std::vector<std::uint8_t> trained)
    : shape_(std::move(shape)), learners_(std::move(learners)), trained_(std::move(trained)) {
  std::int64_t count = 0;
  for (const auto& learner : learners_) {
    first_.push_back(count);
    count += learner->model().parameter_count();
  }
  parameters_ = at::empty({count}, at::kFloat);
  for (std::size_t i = 0; i < learners_.size(); ++i) gather_parameters(i);
}

void separate_learners::gather_parameters(std::size_t policy) {
  const auto& own = learners_[policy]->model().parameters();
  parameters_.narrow(0, first_[policy], own.numel()).copy_(own);
}

joint_report separate_learners::update(const joint_batch& b) {
  joint_report made;
  for (const auto& r : b.rollouts) check(r, shape_);
  for (std::size_t i = 0; i < learners_.size(); ++i) {
    made.of_policy.emplace_back();
    if (!trained_[i]) continue;
    made.of_policy.back() = learners_[i]->update(b, i);
    gather_parameters(i);
  }
  return made;
}

void separate_learners::load_parameters(const at::Tensor& p) {
  TORCH_CHECK(p.scalar_type() == at::kFloat && p.sizes() == parameters_.sizes(),
              "parameters of several policies must be float ", parameters_.sizes(), ", got ",
              p.scalar_type(), " ", p.sizes());
  parameters_.copy_(p);
  for (std::size_t i = 0; i < learners_.size(); ++i) {
    auto& model = learners_[i]->model();
    model.load_parameters(p.narrow(0, first_[i], model.parameter_count()));
  }
}

std::string separate_learners::save() const {
  std::vector<std::string> states;
  for (const auto& learner : learners_) states.push_back(learner->save());
  return state_bytes(states);
}

void separate_learners::restore(const std::string& bytes) {
  const auto states = state_of<std::vector<std::string>>(bytes);
  if (states.size() != learners_.size()) {
    throw state_error("saved learners: expected those of " + std::to_string(learners_.size()) +
                      " policies, got " + std::to_string(states.size()));
  }
  for (std::size_t i = 0; i < learners_.size(); ++i) learners_[i]->restore(states[i]);
}

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

namespace {

/// PPO's learner of one policy.
class ppo_of_policy final : public policy_learner {
 public:
  explicit ppo_of_policy(on_policy_learner learner) : learner_(std::move(learner)) {}

  on_policy_report update(const joint_batch& b, std::size_t index) override {
    return learner_.update(batch_of_policy(b, index, learner_.model().shape()),
                           b.progress_remaining, b.chosen_lr);
  }
  actor_critic& model() override { return learner_.model(); }
  std::string save() const override { return learner_.save(); }
  void restore(const std::string& bytes) override { learner_.restore(bytes); }

 private:
  on_policy_learner learner_;
};

}  // namespace

joint_learner ppo_learners(const network_shape& shape, const ppo_options& options,
                           std::vector<std::uint8_t> trained, std::uint64_t seed,
                           const char* name) {
  std::vector<std::unique_ptr<policy_learner>> learners;
  for (std::size_t i = 0; i < shape.policies.size(); ++i) {
    learners.push_back(std::make_unique<ppo_of_policy>(
        on_policy_learner(shape_of(shape.policies[i]), options,
                          loss_of(checked_options(options, name)), seed_of_policy(seed, i))));
  }
  return joint_learner(
      std::make_unique<separate_learners>(shape, std::move(learners), std::move(trained)));
}

}  // namespace troupe

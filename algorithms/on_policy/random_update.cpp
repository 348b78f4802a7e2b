#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/random_update.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "actors/networks/actor_critic.hpp"
#include "actors/networks/joint_shape.hpp"
#include "algorithms/on_policy/random_rollout.hpp"

namespace troupe {
namespace {

std::vector<std::int64_t> choices_for(actor_critic& model, const std::vector<float>& obs,
                                      action_random& random) {
  std::vector<std::int64_t> choices;
  std::vector<float> none;
  const auto rows = at::tensor(obs).reshape({-1, model.shape().obs_size});
  if (rows.size(0) > 0) {
    detail::write_actions(model.act(rows, random), model.shape(), choices, none);
  }
  return choices;
}

/// All agents act in each step of the rollout of their policy, and in the one that follows.
acting_record acting_in(const policy_rollout& of, actor_critic& model, action_random& random) {
  acting_record when;
  for (std::int64_t t = 0; t < of.steps; ++t) {
    when.step.insert(when.step.end(), static_cast<std::size_t>(of.columns), t);
  }
  for (const auto& cut : of.cuts) when.final_step.push_back(cut.step + 1);
  when.final_acts.assign(of.cuts.size(), 1);
  when.final_choice = choices_for(model, of.final_obs, random);
  when.bootstrap_choice = choices_for(model, of.bootstrap_obs, random);
  return when;
}

}  // namespace

std::function<void()> random_update(std::shared_ptr<rollout_learner> learner,
                                    const network_shape& shape, const network_options& network,
                                    std::uint64_t seed, bool joint_actions) {
  constexpr std::int64_t environments = 4;
  const at::NoGradGuard no_grad;
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  action_random random(seed);
  const std::vector<float> first(learner->acting().begin(), learner->acting().end());
  std::vector<float> moved;
  rollout made;
  made.environments = environments;
  const agent_rows rows(shape);
  for (std::size_t i = 0; i < rows.policies(); ++i) {
    actor_critic model(rows.shape_of_policy(i), network, seed);
    model.take_normalized_obs(true);
    const auto count = static_cast<std::size_t>(model.parameter_count());
    model.load_parameters(at::tensor(at::ArrayRef<float>(first).slice(moved.size(), count)));
    detail::move_weights(model, generator);
    const float* parameters = model.parameters().data_ptr<float>();
    moved.insert(moved.end(), parameters, parameters + count);
    const auto columns = environments * std::ssize(rows.agents_of(i));
    made.policies.push_back(detail::random_rollout(model, columns, random, generator));
    auto& of = made.policies.back();
    if (joint_actions) of.acting = acting_in(of, model, random);
    made.steps = of.steps;
  }
  learner->start_from(moved, {});
  return [learner = std::move(learner), batch = training_rollouts{.rollouts = {std::move(made)}}] {
    learner->update(batch);
  };
}

}  // namespace troupe

#include "actors/torch/torch.hpp"

#include "algorithms/multi_agent/on_policy/coma/learner.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>

#include "algorithms/losses/coma_loss.hpp"
#include "algorithms/losses/gae.hpp"
#include "algorithms/on_policy/learner.hpp"
#include "algorithms/on_policy/targets.hpp"

namespace troupe {

namespace {

constexpr std::size_t block = 256;  // rows that go through the networks at once, without gradients

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

const network_shape& checked(const network_shape& shape) {
  if (shape.discrete_actions > 0) return shape;
  throw std::invalid_argument("coma: expected one Discrete action, got " + to_string(shape));
}

/// Returns the values [rows] of the actions taken by the target network.
std::vector<float> target_values_of(central_critic& critic, const std::vector<float>& inputs,
                                    const std::int64_t* choice) {
  const auto rows = inputs.size() / at(critic.inputs());
  const auto actions = at(critic.actions());
  std::vector<float> q(rows * actions), taken(rows);
  critic.target_values(inputs.data(), static_cast<int>(rows), q.data());
  for (std::size_t i = 0; i < rows; ++i) taken[i] = q[i * actions + at(choice[i])];
  return taken;
}

}  // namespace

coma_learner::coma_learner(const network_shape& shape, int inputs, const coma_options& options,
                           std::uint64_t seed, const std::vector<encoded_part>& parts)
    : actor_critic_learner("coma", learning_of(options), checked(shape),
                           without_critic(checked_options(options, "coma").network), seed),
      options_(options),
      critic_(inputs, parts, shape.discrete_actions, options.network, random()),
      actor_optimizer_(optimizer_of(options_, model_.trained_count())),
      critic_optimizer_(optimizer_of(options_, std::ssize(critic_.parameters()))),
      minibatch_(shape),
      gradient_(policy_gradient_loss("coma", options_), model_),
      acting_graph_(make_graph(model_)),
      reward_scale_(options_.normalize_reward, 1) {
  detail::log_once(model_.backend());
  model_.take_normalized_obs(true);
}

void coma_learner::check_batch(const coma_batch& batch) const {
  check(batch.rows, model_.shape(), false);
  const auto T = batch.rows.steps(), C = batch.rows.environments();
  const auto F = batch.rows.final_index.defined() ? batch.rows.final_index.size(0) : 0;
  const auto expect = [&](const char* name, std::size_t got, std::int64_t expected) {
    TORCH_CHECK(std::cmp_equal(got, expected), "coma batch: ", name, ": expected ", expected,
                " numbers, got ", got);
  };
  expect("steps", batch.critic.steps.size(), T * C * critic_.inputs());
  expect("finals", batch.critic.finals.size(), F * critic_.inputs());
  expect("bootstrap", batch.critic.bootstrap.size(), C * critic_.inputs());
  expect("final_choice", batch.critic.final_choice.size(), F);
  expect("bootstrap_choice", batch.critic.bootstrap_choice.size(), C);
  const auto expect_choices = [&](std::span<const std::int64_t> choices) {
    for (const auto u : choices) {
      TORCH_CHECK(u >= 0 && u < critic_.actions(), "coma batch: action ", u,
                  " is no choice, expected 0 to ", critic_.actions() - 1);
    }
  };
  expect_choices({batch.rows.action.data_ptr<std::int64_t>(), at(T * C)});
  expect_choices(batch.critic.final_choice);
  expect_choices(batch.critic.bootstrap_choice);
}

at::Tensor coma_learner::targets_of(const coma_batch& batch) {
  check_batch(batch);
  return targets_with(batch, batch.rows.reward);
}

at::Tensor coma_learner::targets_with(const coma_batch& batch, const at::Tensor& reward) {
  const auto& rows = batch.rows;
  const auto T = rows.steps(), C = rows.environments();
  const auto F = std::ssize(batch.critic.final_choice);
  auto of_steps =
      target_values_of(critic_, batch.critic.steps, rows.action.data_ptr<std::int64_t>());
  auto of_finals = target_values_of(critic_, batch.critic.finals, batch.critic.final_choice.data());
  auto of_bootstrap =
      target_values_of(critic_, batch.critic.bootstrap, batch.critic.bootstrap_choice.data());
  auto final_value = at::zeros({T, C}, at::kFloat);
  if (F > 0) {
    const auto places = rows.final_index.select(1, 0) * C + rows.final_index.select(1, 1);
    final_value.view({-1}).index_put_({places}, at::from_blob(of_finals.data(), {F}, at::kFloat));
  }
  // y = advantage + Q, where the advantage is that of gae: both are the same mixture of n-step
  // returns (Schulman et al. 2016, equation 16).
  return gae({.reward = reward,
              .value = at::from_blob(of_steps.data(), {T, C}, at::kFloat),
              .terminated = rows.terminated,
              .truncated = rows.truncated,
              .final_value = final_value,
              .bootstrap_value = at::from_blob(of_bootstrap.data(), {C}, at::kFloat),
              .valid = rows.valid},
             {.gamma = options_.gamma, .lambda = options_.gae_lambda})
      .returns;
}

/// The present critic's values [T, C] of the actions taken.
at::Tensor coma_learner::values_of(const coma_batch& batch) {
  const auto actions = at(critic_.actions());
  auto taken = at::empty_like(batch.rows.reward);
  const auto rows = at(taken.numel());
  q_.resize(rows * actions);
  critic_.values(batch.critic.steps.data(), static_cast<int>(rows), q_.data());
  const auto* choice = batch.rows.action.data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < rows; ++i) {
    taken.data_ptr<float>()[i] = q_[i * actions + at(choice[i])];
  }
  return taken;
}

at::Tensor coma_learner::advantages_of(const coma_batch& batch,
                                       std::span<const detail::row_index> rows) {
  check_batch(batch);
  const auto width = at(critic_.inputs());
  auto advantage = at::zeros_like(batch.rows.reward);
  float* to = advantage.data_ptr<float>();
  std::vector<float> of_block(block);
  for (std::size_t from = 0; from < rows.size(); from += block) {
    const auto some = rows.subspan(from, std::min(block, rows.size() - from));
    inputs_.resize(some.size() * width);
    q_.resize(some.size() * at(critic_.actions()));
    for (std::size_t i = 0; i < some.size(); ++i) {
      std::copy_n(batch.critic.steps.data() + some[i] * width, width, inputs_.data() + i * width);
    }
    critic_.values(inputs_.data(), static_cast<int>(some.size()), q_.data());
    minibatch_.gather(batch.rows, some);
    auto& g = *acting_graph_;
    g.clear();
    const auto logits =
        action_outputs(g, model_, trained_parameters(model_).frozen(), minibatch_.obs());
    counterfactual_advantages({.rows = minibatch_.rows(),
                               .actions = critic_.actions(),
                               .q = q_.data(),
                               .probability = values(unbounded_exp(log_softmax(logits))).data(),
                               .choice = minibatch_.actions().choice},
                              of_block.data());
    for (std::size_t i = 0; i < some.size(); ++i) to[some[i]] = of_block[i];
  }
  return advantage;
}

void coma_learner::train(const coma_batch& batch) {
  const at::NoGradGuard no_grad;
  auto returns = targets_with(batch, reward_scale_.is_wanted()
                                         ? detail::scaled_rewards(batch.rows, reward_scale_)
                                         : batch.rows.reward);
  detail::training_targets targets{.value = values_of(batch),
                                   .advantage = at::zeros_like(batch.rows.reward),
                                   .returns = std::move(returns),
                                   .proximal_log_prob = {}};
  const auto usable = detail::usable_rows(batch.rows, targets, model_.shape());
  const auto rows = std::ssize(usable);
  double explained_variance = 0.0, critic_loss = 0.0, grad_norm = 0.0;
  ppo_loss_metrics actor;
  if (rows > 0) {
    explained_variance = detail::explained_variance(targets, usable, rank_group());
    critic_loss = train_critic(batch, targets, usable);
    std::tie(actor, grad_norm) =
        train_actor(batch, targets, detail::acted_rows(batch.rows, usable));
  }
  report().trained_rows = rows;
  report().metrics = {
      {"train/loss", actor.loss},
      {"train/policy_gradient_loss", actor.policy_gradient_loss},
      {"train/critic_loss", critic_loss},
      {"train/entropy_loss", actor.entropy_loss},
      {"train/importance_weight", actor.importance_weight},
      {"train/explained_variance", explained_variance},
      {"train/grad_norm", grad_norm},
      {"train/learning_rate", report().learning_rate},
      {"train/n_updates", static_cast<double>(n_updates())},
      {"train/dropped_rows", static_cast<double>(batch.rows.reward.numel() - rows)}};
  const auto& obs = batch.rows.obs_statistics;
  if (obs.width() > 0) model_.set_obs_statistics(obs.mean(), obs.variance());
}

double coma_learner::train_critic(const coma_batch& batch, const detail::training_targets& targets,
                                  const std::vector<detail::row_index>& usable) {
  const double lr = annealed(options_.critic_lr, options_.lr_schedule, progress_remaining());
  const auto width = at(critic_.inputs());
  const auto* choice = batch.rows.action.data_ptr<std::int64_t>();
  const auto* target = targets.returns.data_ptr<float>();
  detail::row_order order(usable, rank_group());
  double losses = 0.0;
  std::int64_t minibatches = 0;
  for (int epoch = 0; epoch < options_.n_epochs; ++epoch) {
    order.shuffle(random());
    const auto batch_size = at(options_.batch_size);
    for (std::size_t from = 0; from < order.size(); from += batch_size) {
      const auto some = order.own(from, std::min(batch_size, order.size() - from));
      inputs_.resize(some.size() * width);
      choice_.resize(some.size());
      target_.resize(some.size());
      for (std::size_t i = 0; i < some.size(); ++i) {
        std::copy_n(batch.critic.steps.data() + some[i] * width, width, inputs_.data() + i * width);
        choice_[i] = choice[some[i]];
        target_[i] = target[some[i]];
      }
      const double loss = critic_.differentiate(inputs_.data(), static_cast<int>(some.size()),
                                                choice_.data(), target_.data());
      if (!std::isfinite(static_cast<float>(loss))) {
        skip_step("critic's loss", loss);
        continue;
      }
      const double norm = critic_optimizer_.step(critic_.parameters(), critic_.gradient(), lr);
      if (!std::isfinite(norm)) {
        skip_step("critic's gradient norm", norm);
        continue;
      }
      took_step();
      losses += loss;
      ++minibatches;
      if (++critic_steps_ % options_.target_interval == 0) critic_.renew_target();
    }
  }
  return minibatches > 0 ? losses / static_cast<double>(minibatches) : 0.0;
}

std::pair<ppo_loss_metrics, double> coma_learner::train_actor(
    const coma_batch& batch, detail::training_targets& targets,
    const std::vector<detail::row_index>& usable) {
  if (usable.empty()) return {};
  targets.advantage = advantages_of(batch, usable);
  if (batch.rows.proximal_correction) {
    targets.proximal_log_prob =
        detail::proximal_log_prob_of(gradient_.engine(), batch.rows, model_, usable, minibatch_);
  }
  minibatch_.gather(batch.rows, targets, usable);
  const auto metrics = gradient_.evaluate(model_, minibatch_, usable.size(), progress_remaining());
  if (!std::isfinite(static_cast<float>(metrics.loss))) {
    skip_step("actor's loss", metrics.loss);
    return {metrics, 0.0};
  }
  gradient_.differentiate(model_);
  const auto count = at(model_.trained_count());
  const double norm =
      actor_optimizer_.step({model_.parameters().data_ptr<float>(), count},
                            {model_.gradient().data_ptr<float>(), count}, report().learning_rate);
  if (std::isfinite(norm)) {
    took_step();
  } else {
    skip_step("actor's gradient norm", norm);
  }
  return {metrics, norm};
}

void coma_learner::visit_state(state_visitor& visit) {
  learner::visit_state(visit);
  visit("critic", critic_.parameters());
  visit("target", critic_.target());
  visit("actor_optimizer", actor_optimizer_);
  visit("critic_optimizer", critic_optimizer_);
  visit("critic_steps", critic_steps_);
  visit("reward_scale", reward_scale_);
}

std::unique_ptr<rollout_learner> make_learner(const network_shape& shape,
                                              const coma_config& config) {
  auto options = config.trainer;
  options.network = config.network();
  const auto shapes = shapes_of_policies(shape);
  const critic_inputs inputs(shape);
  std::vector<std::unique_ptr<coma_learner>> learners;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    learners.push_back(std::make_unique<coma_learner>(
        shapes[i], inputs.width(i), options, seed_of_policy(config.seed, i), inputs.parts(i)));
  }
  const auto batch_of = [shapes, inputs](const training_rollouts& given,
                                         std::size_t i) -> coma_batch {
    return {to_batch(given, shapes[i], i), inputs.rows_of(given.rollouts, i)};
  };
  return std::make_unique<policy_learners<coma_learner>>(
      "coma", learning_of(options), shape, std::move(learners), batch_of, config.trained(shape));
}

}  // namespace troupe

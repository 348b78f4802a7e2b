#include "actors/torch/torch.hpp"

#include <torch/nn/utils/clip_grad.h>
#include <torch/optim.h>

#include "algorithms/on_policy/ppo/learner.hpp"

#include <cmath>
#include <limits>
#include <map>

#include "actors/networks/named_tensors.hpp"
#include "algorithms/losses/gae.hpp"
#include "tests/algorithms/gradients/reference_policy.hpp"
#include "tests/algorithms/learner_parts.hpp"
#include "tests/algorithms/on_policy/ppo/acted_batch.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

network_shape discrete() { return {.obs_size = 4, .discrete_actions = 3}; }
network_shape continuous() { return {.obs_size = 4, .continuous_size = 2}; }

bool all_finite(const at::Tensor& tensor) { return tensor.isfinite().all().item<bool>(); }

/// The options with another value of one that all on-policy update rules have.
ppo_options with(double on_policy_options::* option, double value, ppo_options options = {}) {
  options.*option = value;
  return options;
}

}  // namespace

TEST_CASE("ppo_learner: an update equals autograd, libtorch's Adam and clip_grad_norm_", "[ppo]") {
  for (const auto& shape : {discrete(), continuous()}) {
    INFO(to_string(shape));
    constexpr std::int64_t T = 16, B = 4;
    // One minibatch an epoch: the order of its rows does not matter.
    const ppo_options options{{.lr = 1e-3, .batch_size = T * B, .n_epochs = 8, .ent_coef = 0.01}};
    ppo_learner learner(shape, options, 3);
    reference_policy reference(learner.model());
    const auto batch = acted_batch(learner.model(), T, B);
    const auto metrics = learner.update(batch);

    const std::vector<at::Tensor> leaves{reference.parameters()};
    torch::optim::Adam optimizer(leaves, torch::optim::AdamOptions(1e-3).eps(1e-5));
    const auto targets = gae({.reward = batch.reward,
                              .value = batch.value,
                              .terminated = batch.terminated,
                              .truncated = batch.truncated,
                              .final_value = batch.final_value,
                              .bootstrap_value = batch.bootstrap_value});
    const auto advantage = troupe::detail::normalized(targets.advantage.flatten());
    double last_loss = 0, last_kl = 0;
    for (int epoch = 0; epoch < options.n_epochs; ++epoch) {
      const auto now = reference.evaluate(batch.obs.flatten(0, 1), batch.action.flatten(0, 1));
      const auto log_ratio = now.log_prob - batch.log_prob.flatten();
      const auto ratio = log_ratio.exp();
      const auto surrogate = at::min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage);
      const auto loss = -surrogate.mean() - 0.01 * now.entropy.mean() +
                        0.5 * (now.value - targets.returns.flatten()).square().mean();
      optimizer.zero_grad();
      loss.backward();
      torch::nn::utils::clip_grad_norm_(leaves, 0.5);
      optimizer.step();
      last_loss = loss.item<double>();
      last_kl = (ratio - 1.0 - log_ratio).mean().item<double>();
    }
    const auto difference = learner.model().parameters() - reference.parameters().detach();
    CHECK(difference.abs().max().item<double>() < 2e-5);
    CHECK(metrics["train/loss"] == Approx(last_loss).epsilon(1e-3));
    CHECK(metrics["train/approx_kl"] == Approx(last_kl).epsilon(1e-2).margin(1e-6));
    CHECK(metrics["train/approx_kl"] > 1e-5);
    CHECK(metrics["train/n_updates"] == 8);
    CHECK(metrics.optimizer_steps == 8);
    CHECK(metrics.has("train/std") == shape.is_continuous());
  }
}

TEST_CASE("ppo_learner: weight decay shrinks all parameters, or matrices alone", "[ppo]") {
  const auto shape = continuous();
  constexpr std::int64_t T = 8, B = 4;
  actor_critic reference(shape, ppo_options().network, 3);
  const auto start = 0.1 * at::rand({reference.parameter_count()}) + 0.1;
  reference.load_parameters(start);
  const auto batch = acted_batch(reference, T, B);
  const auto stepped = [&](double decay, decayed_parameters of) {
    ppo_options options{{.lr = 0.01, .batch_size = T * B, .n_epochs = 1}};
    options.weight_decay = decay;
    options.weight_decay_of = of;
    ppo_learner learner(shape, options, 3);
    learner.model().load_parameters(start);
    learner.update(batch);
    return learner.parameters().clone();
  };
  const auto plain = stepped(0, decayed_parameters::all);
  const auto all = stepped(0.5, decayed_parameters::all);
  const auto matrices = stepped(0.5, decayed_parameters::matrices);
  const auto decay = 0.01 * 0.5 * start;
  CHECK(at::allclose(plain - all, decay, 1e-3, 1e-6));
  for (const auto& place : layout_of(shape, ppo_options().network).tensors) {
    INFO(place.name);
    const auto lost = (plain - matrices).narrow(0, place.offset, place.count());
    const auto expected = decay.narrow(0, place.offset, place.count());
    CHECK(at::allclose(lost, place.sizes.size() == 2 ? expected : at::zeros_like(expected), 1e-3,
                       1e-6));
  }
}

TEST_CASE("ppo_learner: the libtorch backend gives what the fused one gives", "[ppo]") {
  for (const auto& shape : {discrete(), continuous()}) {
    for (const bool stale : {false, true}) {
      INFO(to_string(shape) << (stale ? ", stale" : ""));
      std::vector<at::Tensor> results;
      std::vector<learner_report> metrics;
      for (const auto backend : {gradient_backend::fused, gradient_backend::libtorch}) {
        ppo_options options{{.batch_size = 24,
                             .n_epochs = 3,
                             .ent_coef = 0.01,
                             .network = {.critic_hidden = std::vector<int>{16},
                                         .backend = backend,
                                         .normalize_obs = true}}};
        options.clip_range_vf = 0.3;
        ppo_learner learner(shape, options, 3);
        auto batch = acted_batch(learner.model(), 16, 4);
        batch.proximal_correction = stale;
        learner.update(batch);
        metrics.push_back(learner.update(batch));
        results.push_back(learner.model().parameters().clone());
      }
      CHECK((results[0] - results[1]).abs().max().item<double>() < 2e-5);
      CHECK(metrics[0]["train/loss"] ==
            Approx(metrics[1]["train/loss"]).epsilon(1e-3).margin(1e-4));
      CHECK(metrics[0]["train/grad_norm"] == Approx(metrics[1]["train/grad_norm"]).epsilon(1e-3));
    }
  }
}

TEST_CASE("ppo_learner: observations come normalised, whatever statistics go with the weights",
          "[ppo]") {
  for (const auto backend : {gradient_backend::fused, gradient_backend::libtorch}) {
    const network_options scaled{.backend = backend, .normalize_obs = true};
    ppo_learner learner(discrete(), {{.network = scaled}}, 1);
    ppo_learner plain(discrete(), {{.network = {.backend = backend}}}, 1);
    const auto P = plain.model().parameter_count();
    const std::vector<double> mean(4, 3.0), variance(4, 25.0);
    learner.model().set_obs_statistics(mean, variance);
    for (const bool stale : {false, true}) {
      auto batch = acted_batch(plain.model(), 32, 4);
      batch.proximal_correction = stale;
      CHECK(learner.update(batch)["train/loss"] == plain.update(batch)["train/loss"]);
    }
    const auto parameters = learner.model().parameters();
    CHECK(at::equal(parameters.narrow(0, 0, P), plain.model().parameters()));
    CHECK(at::equal(parameters.narrow(0, P, 4), at::full({4}, 3.0f)));
    CHECK(at::allclose(parameters.narrow(0, P + 4, 4), at::full({4}, 0.2f)));
  }
}

TEST_CASE("ppo_learner: without a baseline advantages are discounted returns", "[ppo]") {
  ppo_learner learner(discrete(),
                      {{.batch_size = 8,
                        .n_epochs = 1,
                        .gae_lambda = 1.0,
                        .normalize_advantage = false,
                        .baseline = false,
                        .whole_episodes = true}},
                      1);
  auto batch = acted_batch(learner.model(), 6, 1);
  batch.terminated.fill_(false);
  batch.truncated.fill_(false);
  batch.terminated[3][0] = true;  // steps 4 and 5 are of an episode that goes on
  const auto critic = learner.model().named_parameters();
  const auto metrics = learner.update(batch);
  CHECK(metrics.trained_rows == 4);
  // At ratio 1 the loss is minus the mean of the returns by hand.
  double sum = 0, after = 0;
  for (int t = 3; t >= 0; --t) sum += after = batch.reward[t][0].item<double>() + 0.99 * after;
  CHECK(metrics["train/policy_gradient_loss"] == Approx(-sum / 4).epsilon(1e-4));
  CHECK(metrics["train/loss"] == Approx(-sum / 4).epsilon(1e-4));
}

TEST_CASE("ppo_learner: the short last minibatch is kept", "[ppo]") {
  ppo_learner learner(discrete(), {{.batch_size = 16, .n_epochs = 3}}, 1);
  const auto metrics = learner.update(acted_batch(learner.model(), 10, 5));  // 16 16 16 2
  CHECK(metrics.optimizer_steps == 3 * 4);
  CHECK(metrics.trained_rows == 50);
  CHECK(metrics["train/explained_variance"] < 1.0);
}

TEST_CASE("usable_rows: rows come environment by environment, without those that are not usable",
          "[ppo]") {
  actor_critic model(discrete(), {}, 1);
  auto batch = acted_batch(model, 3, 2);
  batch.valid = at::ones({3, 2}, at::kBool);
  batch.valid[1][0] = false;
  batch.obs[2][1][3] = std::numeric_limits<float>::quiet_NaN();
  const troupe::detail::training_targets targets{batch.value, batch.value, batch.value, {}};
  const std::vector<troupe::detail::row_index> expected = {0, 4, 1, 3};
  CHECK(troupe::detail::usable_rows(batch, targets, discrete()) == expected);
  batch.action[0][0] = 3;
  CHECK_THROWS_WITH(troupe::detail::usable_rows(batch, targets, discrete()),
                    Catch::Contains("action 3 is no choice, expected 0 to 2"));
}

TEST_CASE("shuffle: every order of three comes equally often", "[ppo]") {
  action_random random(1);
  std::map<std::vector<troupe::detail::row_index>, int> counts;
  for (int i = 0; i < 12000; ++i) {
    std::vector<troupe::detail::row_index> order = {0, 1, 2};
    troupe::detail::shuffle(order, random);
    ++counts[order];
  }
  CHECK(counts.size() == 6);
  for (const auto& [order, count] : counts) CHECK(count == Approx(2000).margin(200));
}

TEST_CASE("ppo_learner: what stands in invalid rows does not matter", "[ppo]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<at::Tensor> results;
  for (bool garbage : {false, true}) {
    ppo_learner learner(discrete(), {{.batch_size = 8, .n_epochs = 2}}, 1);
    auto batch = acted_batch(learner.model(), 12, 2);
    batch.valid = at::ones({12, 2}, at::kBool);
    batch.valid.slice(0, 4, 7).select(1, 1).fill_(false);
    batch.terminated[3][1] = true;  // the failed episode begins afresh
    if (garbage) {
      for (auto* tensor : {&batch.obs, &batch.reward, &batch.value, &batch.log_prob}) {
        tensor->slice(0, 4, 7).select(1, 1).fill_(nan);
      }
      batch.action.slice(0, 4, 7).select(1, 1).fill_(-1);
    }
    const auto metrics = learner.update(batch);
    CHECK(metrics["train/dropped_rows"] == 3);
    CHECK(metrics.trained_rows == 21);
    CHECK(metrics.skipped_steps == 0);
    results.push_back(learner.model().parameters().clone());
  }
  CHECK(at::equal(results[0], results[1]));
  CHECK(all_finite(results[0]));
}

TEST_CASE("ppo_learner: a rollout without a usable row changes nothing", "[ppo]") {
  ppo_learner learner(discrete(), {}, 1);
  auto batch = acted_batch(learner.model(), 4, 1);
  batch.reward.fill_(std::numeric_limits<float>::infinity());
  const auto before = learner.model().parameters().clone();
  const auto metrics = learner.update(batch);
  CHECK(metrics["train/dropped_rows"] == 4);
  CHECK(metrics.optimizer_steps == 0);
  CHECK(at::equal(learner.model().parameters(), before));
}

TEST_CASE("ppo_learner: steps that are not finite are skipped, ten in a row throw", "[ppo]") {
  ppo_learner learner(discrete(), {{.batch_size = 8, .n_epochs = 3}}, 1);
  auto batch = acted_batch(learner.model(), 24, 1);
  batch.reward[5][0] = 1e30f;  // finite, but its square is not
  batch.terminated[5][0] = true;
  batch.terminated[4][0] = true;
  const auto metrics = learner.update(batch);  // three minibatches an epoch, one holds that row
  CHECK(metrics.skipped_steps == 3);
  CHECK(metrics.optimizer_steps == 6);
  CHECK(std::isfinite(metrics["train/value_loss"]));
  CHECK(all_finite(learner.model().parameters()));

  ppo_learner other(discrete(), {{.batch_size = 8, .n_epochs = 3}}, 1);
  batch.reward.fill_(1e30f);
  const auto before = other.model().parameters().clone();
  CHECK(other.update(batch).skipped_steps == 9);
  CHECK_THROWS_AS(other.update(batch), non_finite_training);
  CHECK(at::equal(other.model().parameters(), before));
}

TEST_CASE("ppo_learner: target_kl ends an update before the step that goes too far", "[ppo]") {
  ppo_learner learner(discrete(),
                      with(&ppo_options::lr, 0.05, {{.batch_size = 16, .target_kl = 0.01}}), 1);
  const auto metrics = learner.update(acted_batch(learner.model(), 64, 1));
  CHECK(metrics.optimizer_steps < 40);
  CHECK(metrics.optimizer_steps > 0);
}

TEST_CASE("ppo_learner: target_kl is exceeded at one and a half times it", "[ppo]") {
  // One minibatch an epoch, so that the divergence of an update is that before its last step.
  const auto update = [](int epochs, std::optional<double> target_kl) {
    const ppo_options options{{.batch_size = 64, .n_epochs = epochs, .target_kl = target_kl}};
    ppo_learner learner(discrete(), with(&ppo_options::lr, 3e-3, options), 1);
    return learner.update(acted_batch(learner.model(), 64, 1));
  };
  constexpr int steps = 5;
  const double divergence = update(steps + 1, {})["train/approx_kl"];  // after so many steps
  REQUIRE(divergence > 1e-4);
  REQUIRE(update(steps, {})["train/approx_kl"] < 0.9 * divergence);
  const auto within = update(steps + 1, divergence / 1.5 * 1.01);
  CHECK(within.optimizer_steps == steps + 1);
  const auto beyond = update(steps + 1, divergence / 1.5 * 0.99);
  CHECK(beyond.optimizer_steps == steps);
  CHECK(beyond["train/n_updates"] == steps + 1);  // as Stable-Baselines3 counts
}

TEST_CASE("ppo_learner: explained_variance is that of returns by the values before the update",
          "[ppo]") {
  // 1 - Var(returns - values) / Var(returns), NaN where returns are constant.
  ppo_learner learner(discrete(), {}, 1);
  auto batch = acted_batch(learner.model(), 32, 2);
  batch.value = batch.reward * 3.0 + 7.0;
  const auto targets = gae({.reward = batch.reward,
                            .value = batch.value,
                            .terminated = batch.terminated,
                            .truncated = batch.truncated,
                            .final_value = batch.final_value,
                            .bootstrap_value = batch.bootstrap_value});
  const auto variance = [](const at::Tensor& x) {
    return x.to(at::kDouble).var(false).item<double>();
  };
  const double expected = 1.0 - variance(targets.returns - batch.value) / variance(targets.returns);
  CHECK(learner.update(batch)["train/explained_variance"] == Approx(expected).epsilon(1e-4));
  REQUIRE(std::abs(expected) > 0.05);

  batch.reward.fill_(1.0);
  batch.terminated.fill_(true);
  CHECK(std::isnan(learner.update(batch)["train/explained_variance"]));
}

TEST_CASE("ppo_learner: the seed decides the first weights and the order of the minibatches",
          "[ppo]") {
  const ppo_options options{{.batch_size = 8, .n_epochs = 1}};
  const auto trained = [&](std::uint64_t seed) {
    ppo_learner learner(discrete(), options, seed);
    actor_critic first(discrete(), {}, 5);
    CHECK_FALSE(at::equal(learner.model().parameters(), first.parameters()));
    learner.model().load_parameters(first.parameters());
    learner.update(acted_batch(first, 32, 2));
    return learner.model().parameters().clone();
  };
  const auto one = trained(1);
  CHECK(at::equal(trained(1), one));
  CHECK_FALSE(at::equal(trained(2), one));

  // Each epoch has an order of its own: as many numbers are drawn.
  ppo_learner learner(discrete(), {{.batch_size = 8, .n_epochs = 3}}, 1);
  action_random expected(0);
  expected.set_state(parts_of(learner).random);
  std::vector<troupe::detail::row_index> order(64);
  for (int epoch = 0; epoch < 3; ++epoch) troupe::detail::shuffle(order, expected);
  learner.update(acted_batch(learner.model(), 32, 2));
  CHECK(parts_of(learner).random == expected.state());
}

TEST_CASE("ppo_learner: linear schedules scale learning rate and clip range by what is left",
          "[ppo]") {
  ppo_options options{.clip_range = 0.4, .clip_schedule = annealing::linear};
  options.lr = 1e-3;
  options.lr_schedule = annealing::linear;
  ppo_learner learner(discrete(), options, 1);
  const auto batch = acted_batch(learner.model(), 8, 1);
  const auto metrics = learner.update(batch, 0.25);
  CHECK(metrics.learning_rate == Approx(2.5e-4));
  CHECK(metrics["train/clip_range"] == Approx(0.1));
  const auto before = learner.model().parameters().clone();
  learner.update(batch, 0.0);
  CHECK(at::equal(learner.model().parameters(), before));
}

TEST_CASE("ppo_learner: for a fresh batch the proximal correction changes nothing", "[ppo]") {
  std::vector<at::Tensor> results;
  for (bool correction : {false, true}) {
    ppo_learner learner(continuous(), {{.batch_size = 16, .n_epochs = 2}}, 1);
    auto batch = acted_batch(learner.model(), 16, 2);
    batch.proximal_correction = correction;
    const auto metrics = learner.update(batch);
    CHECK(metrics["train/importance_weight"] == Approx(1.0).epsilon(1e-5));
    results.push_back(learner.model().parameters().clone());
  }
  CHECK(at::allclose(results[0], results[1], 0, 1e-5));
}

TEST_CASE("ppo_learner: a stale batch is valued by the present critic", "[ppo]") {
  actor_critic old(discrete(), {}, 9);
  old.parameters().mul_(3.0);
  std::vector<at::Tensor> results;
  for (float garbage : {0.0f, 1e6f}) {
    ppo_learner learner(discrete(), {{.batch_size = 16, .n_epochs = 2}}, 1);
    auto batch = acted_batch(old, 16, 2);
    batch.proximal_correction = true;
    batch.value = at::full_like(batch.value, garbage);
    batch.final_value = at::full_like(batch.value, garbage);
    batch.bootstrap_value = at::full_like(batch.bootstrap_value, garbage);
    const auto metrics = learner.update(batch);
    CHECK(std::abs(metrics["train/importance_weight"] - 1.0) > 1e-3);
    CHECK(metrics["train/importance_weight"] <= 2.0);
    results.push_back(learner.model().parameters().clone());
  }
  CHECK(at::equal(results[0], results[1]));

  ppo_learner learner(discrete(), {}, 1);
  auto batch = acted_batch(old, 16, 2);
  batch.proximal_correction = true;
  batch.truncated[3][1] = true;
  batch.terminated[3][1] = false;
  batch.final_index = batch.final_index.narrow(0, 0, 0);
  batch.final_obs = batch.final_obs.narrow(0, 0, 0);
  CHECK_THROWS_WITH(learner.update(batch), Catch::Contains("has no row in final_obs"));
}

TEST_CASE("ppo_learner: a restored state continues bit for bit", "[ppo]") {
  ppo_learner learner(discrete(), {{.batch_size = 16}}, 1),
      other(discrete(), {{.batch_size = 16}}, 2);
  const auto first = acted_batch(learner.model(), 40, 1, 1);
  const auto second = acted_batch(learner.model(), 40, 1, 2);
  learner.update(first);
  copy_learner(other, learner);
  const auto metrics = learner.update(second);
  CHECK(other.update(second)["train/n_updates"] == metrics["train/n_updates"]);
  CHECK(at::equal(learner.model().parameters(), other.model().parameters()));
}

TEST_CASE("ppo_learner: options out of range and batches of other shapes are refused", "[ppo]") {
  const auto refuses = [](const ppo_options& options, const char* name) {
    CHECK_THROWS_WITH(ppo_learner(discrete(), options, 1), Catch::Contains(name));
  };
  refuses(with(&ppo_options::lr, 0), "ppo/lr: expected a number > 0, got 0");
  refuses({{.batch_size = 0}}, "batch_size");
  refuses({{.n_epochs = 0}}, "n_epochs");
  refuses(with(&ppo_options::gamma, 1.5), "ppo/gamma: expected a number >= 0 and <= 1, got 1.5");
  refuses({{.gae_lambda = -0.1}}, "gae_lambda");
  refuses({.clip_range = 0}, "clip_range");
  refuses({.clip_range_vf = 0.0}, "clip_range_vf");
  refuses(with(&ppo_options::max_grad_norm, -1), "max_grad_norm");
  refuses(with(&ppo_options::importance_cap, 0), "importance_cap");
  ppo_options impatient;
  impatient.max_skipped_steps = 0;
  refuses(impatient, "max_skipped_steps");
  refuses({{.rmsprop_alpha = 1}}, "rmsprop_alpha");
  refuses(with(&ppo_options::lr, std::numeric_limits<double>::infinity()), "lr");
  refuses({.clip_range = std::numeric_limits<double>::quiet_NaN()}, "clip_range");
  CHECK_NOTHROW(
      ppo_learner(discrete(), {.clip_range = std::numeric_limits<double>::infinity()}, 1));
  ppo_learner learner(discrete(), {}, 1);
  auto batch = acted_batch(learner.model(), 4, 2);
  batch.reward = at::zeros({4});
  CHECK_THROWS_WITH(learner.update(batch), Catch::Contains("reward must be Float [4, 2]"));
}

TEST_CASE("ppo_learner: learns to name the state it sees", "[ppo]") {
  // Four states, one-hot; the action equal to the state pays 1. Every episode is one step.
  constexpr std::int64_t T = 64, B = 4;
  const auto options = with(&ppo_options::gamma, 0.4, with(&ppo_options::lr, 2e-3));
  ppo_learner learner({.obs_size = 4, .discrete_actions = 4}, options, 3);
  action_random random(4);
  double mean_reward = 0.0;
  for (int iteration = 0; iteration < 15; ++iteration) {
    auto state = at::empty({T * B}, at::kLong);
    for (int i = 0; i < T * B; ++i) state[i] = static_cast<std::int64_t>(random.below(4));
    const auto obs = at::one_hot(state, 4).to(at::kFloat);
    const auto acted = learner.model().act(obs, random);
    const auto reward = (acted.action == state).to(at::kFloat);
    mean_reward = reward.mean().item<double>();
    rollout_batch batch{{.obs = obs.view({T, B, 4}),
                         .log_prob = acted.log_prob.view({T, B}),
                         .value = acted.value.view({T, B}),
                         .reward = reward.view({T, B}),
                         .terminated = at::ones({T, B}, at::kBool),
                         .truncated = at::zeros({T, B}, at::kBool),
                         .bootstrap_value = at::zeros({B})}};
    batch.action = acted.action.view({T, B});
    batch.final_value = at::zeros({T, B});
    learner.update(batch);
  }
  CHECK(mean_reward > 0.9);
}

TEST_CASE("ppo_learner: learns a continuous action that depends on what it sees", "[ppo]") {
  // The best action is twice the observation; the reward is minus the squared distance to it.
  constexpr std::int64_t T = 256, B = 1;
  ppo_learner learner({.obs_size = 1, .continuous_size = 1}, with(&ppo_options::lr, 3e-3), 3);
  action_random random(4);
  double mean_reward = 0.0;
  for (int iteration = 0; iteration < 40; ++iteration) {
    auto obs = at::empty({T, 1}, at::kFloat);
    for (int i = 0; i < T; ++i) obs[i] = 2.0 * random.uniform() - 1.0;
    const auto acted = learner.model().act(obs, random);
    const auto reward = -(acted.action - 2.0 * obs).square().squeeze(1);
    mean_reward = reward.mean().item<double>();
    rollout_batch batch{{.obs = obs.view({T, B, 1}),
                         .log_prob = acted.log_prob.view({T, B}),
                         .value = acted.value.view({T, B}),
                         .reward = reward.view({T, B}),
                         .terminated = at::ones({T, B}, at::kBool),
                         .truncated = at::zeros({T, B}, at::kBool),
                         .bootstrap_value = at::zeros({B})}};
    batch.action = acted.action.view({T, B, 1});
    batch.final_value = at::zeros({T, B});
    learner.update(batch);
  }
  CHECK(mean_reward > -0.3);  // it starts near -2.3
}

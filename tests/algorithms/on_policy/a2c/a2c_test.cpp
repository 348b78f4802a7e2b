#include "actors/torch/torch.hpp"

#include <torch/nn/utils/clip_grad.h>
#include <torch/optim.h>

#include "algorithms/on_policy/a2c/a2c.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/losses/gae.hpp"
#include "algorithms/on_policy/a2c/learner.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "runtime/base/log.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/gradients/reference_policy.hpp"
#include "tests/algorithms/on_policy/ppo/acted_batch.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

a2c_config parse(const std::vector<std::string>& overrides) {
  return parse_config<a2c_config>(load_config({}, overrides));
}

/// A2C's loss over a whole batch, written out: the mean of -A log pi - ent_coef H + vf_coef (V -
/// R)^2.
at::Tensor loss_by_hand(const reference_policy& model, const rollout_batch& batch,
                        const gae_targets& targets, const a2c_options& options) {
  const auto now = model.evaluate(batch.obs.flatten(0, 1), batch.action.flatten(0, 1));
  auto advantage = targets.advantage.flatten();
  if (options.normalize_advantage) {
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8);
  }
  return -(advantage * now.log_prob).mean() - options.ent_coef * now.entropy.mean() +
         options.vf_coef * (now.value - targets.returns.flatten()).square().mean();
}

gae_targets targets_of(const rollout_batch& batch, const a2c_options& options) {
  return gae({.reward = batch.reward,
              .value = batch.value,
              .terminated = batch.terminated,
              .truncated = batch.truncated,
              .final_value = batch.final_value,
              .bootstrap_value = batch.bootstrap_value},
             {.gamma = options.gamma, .lambda = options.gae_lambda});
}

/// The gradient of one update, drawn at random, is that of the loss by hand.
void check_gradient(std::uint64_t seed) {
  action_random random(seed);
  const auto below = [&](int n) { return static_cast<int>(random.below(n)); };
  network_shape shape{.obs_size = 1 + below(6)};
  switch (below(3)) {
    case 0:
      shape.discrete_actions = 2 + below(4);
      break;
    case 1:
      shape.continuous_size = 1 + below(3);
      break;
    default:
      shape.multi_discrete = {2 + below(3), 2 + below(3)};
  }
  a2c_config config;
  config.env.n_envs = 1 + below(4);
  config.rollout.n_steps = 2 + below(20);
  config.policy.hidden = {1 + below(40)};
  if (below(2)) config.policy.critic_hidden = std::vector<int>{1 + below(20), 1 + below(20)};
  config.policy.hidden_activation = below(2) ? activation::tanh : activation::relu;
  config.policy.use_sde = shape.is_continuous() && below(2);
  config.trainer.ent_coef = 0.02 * below(2);
  config.trainer.gae_lambda = below(2) ? 1.0 : 0.9;
  config.trainer.normalize_advantage = below(2);
  INFO("seed " << seed << ", " << to_string(shape, config.policy));

  config.seed = seed;
  auto learner = make_learner(shape, config);
  const reference_policy reference(learner.model());
  const auto batch = acted_batch(learner.model(), config.rollout.n_steps, config.env.n_envs, seed);
  const auto expected = reference.gradient_of(
      loss_by_hand(reference, batch, targets_of(batch, config.trainer), config.trainer));
  learner.update(batch);
  const auto scale = expected.abs().max().item<double>();
  const auto difference = (learner.model().gradient() - expected).abs().max().item<double>();
  CHECK(difference <= 1e-4 * scale + 1e-6);
}

}  // namespace

TEST_CASE("a2c_config: defaults are Stable-Baselines3's") {
  const auto c = parse({});
  CHECK(c.algo == "a2c");
  CHECK(c.rollout.n_steps == 5);
  CHECK(c.env.n_envs == 1);
  CHECK(c.trainer.lr == 7e-4);
  CHECK(c.trainer.gamma == 0.99);
  CHECK(c.trainer.gae_lambda == 1.0);
  CHECK(c.trainer.ent_coef == 0);
  CHECK(c.trainer.vf_coef == 0.5);
  CHECK(c.trainer.max_grad_norm == 0.5);
  CHECK_FALSE(c.trainer.normalize_advantage);
  CHECK(c.trainer.optimizer == optimizer_kind::rmsprop);
  CHECK(c.trainer.rmsprop_alpha == 0.99);
  CHECK(c.trainer.optimizer_eps == 1e-5);
  CHECK(c.log.every_updates == 100);
}

TEST_CASE("a2c_config: RL Zoo's settings can be said, and are stored as they were said") {
  const auto c = parse({"env.id=Pendulum-v1", "env.n_envs=8", "total_steps=1e6",
                        "env.normalize_obs=true", "env.normalize_reward=true", "rollout.n_steps=8",
                        "trainer.gae_lambda=0.9", "trainer.vf_coef=0.4", "trainer.gamma=0.9",
                        "trainer.lr_schedule=linear", "trainer.optimizer=rmsprop_tensorflow_like",
                        "policy.log_std_init=-2", "policy.ortho_init=false"});
  const auto options = whole_batch_options(c);
  CHECK(options.batch_size == 64);
  CHECK(options.n_epochs == 1);
  const auto settings = algorithm_with(c).settings;
  CHECK(settings.algo == "a2c");
  CHECK(settings.env.normalize_reward);
  CHECK(settings.network.normalize_obs);
  CHECK(settings.config == to_json(c).dump());
  CHECK_THROWS_AS(parse({"algo=ppo"}), config_error);
}

TEST_CASE("a2c: the gradient is that of its loss by autograd") {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) check_gradient(seed);
}

TEST_CASE("a2c: the gradient is that of its loss by autograd, a thousand times", "[.thousand]") {
  for (std::uint64_t seed = 1000; seed < 2000; ++seed) check_gradient(seed);
}

TEST_CASE("a2c: three updates equal autograd and libtorch's RMSprop") {
  const network_shape shape{.obs_size = 4, .discrete_actions = 2};
  a2c_config config;
  config.env.n_envs = 4;
  config.seed = 3;
  auto learner = make_learner(shape, config);
  reference_policy reference(learner.model());
  const std::vector<at::Tensor> leaves{reference.parameters()};
  torch::optim::RMSprop optimizer(leaves, torch::optim::RMSpropOptions(7e-4).alpha(0.99).eps(1e-5));
  for (std::uint64_t update = 1; update <= 3; ++update) {
    const auto batch = acted_batch(learner.model(), config.rollout.n_steps, 4, update);
    optimizer.zero_grad();
    loss_by_hand(reference, batch, targets_of(batch, config.trainer), config.trainer).backward();
    torch::nn::utils::clip_grad_norm_(leaves, 0.5);
    optimizer.step();
    CHECK(learner.update(batch).optimizer_steps == 1);
  }
  // Early steps are lr g / (0.1 |g|), so where g is next to nothing its sign is rounding's.
  const auto difference = (learner.model().parameters() - reference.parameters().detach()).abs();
  CHECK((difference > 1e-4).sum().item<int>() <= 10);
}

TEST_CASE("a2c: learns to balance CartPole for a while") {
  log::set_level("off");
  const temporary_folder folder;
  a2c_config config;
  config.env.n_envs = 8;
  config.total_steps = 40'000;
  config.evaluation.every_steps = 0;
  config.evaluation.final_episodes = 20;
  for (const std::uint64_t seed : {1, 2, 3}) {
    config.seed = seed;
    system sys({.deterministic = true, .seed = seed});
    const auto s = sys.run(train_in(sys, config, {.root = folder.path.string()}));
    INFO("seed " << seed);
    CHECK(s.algo == "a2c");
    CHECK(s.run_directory.find("/a2c/CartPole-v1_") != std::string::npos);
    CHECK(s.eval_mean >= 100);  // at random: 22
  }
}

}  // namespace troupe

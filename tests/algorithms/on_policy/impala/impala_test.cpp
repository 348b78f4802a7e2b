#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/impala/impala.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "actors/gradients/kernel_graph.hpp"
#include "algorithms/losses/vtrace.hpp"
#include "algorithms/on_policy/impala/learner.hpp"
#include "algorithms/on_policy/targets.hpp"
#include "tests/algorithms/on_policy/ppo/acted_batch.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

const network_shape shape{.obs_size = 4, .discrete_actions = 3};

impala_config small() {
  impala_config config;
  config.env.n_envs = 3;
  config.rollout.n_steps = 12;
  config.rollout.batch = 1;
  config.policy.hidden = {8};
  return config;
}

/// A batch that another policy made, with that policy's probabilities multiplied by `times`.
rollout_batch stale_batch(double times) {
  const auto config = small();
  actor_critic other(shape, config.policy, 77);
  auto batch = acted_batch(other, config.rollout.n_steps, config.env.n_envs, 5);
  batch.proximal_correction = true;
  batch.log_prob = batch.log_prob + std::log(times);
  return batch;
}

at::Tensor weights_after(const rollout_batch& batch, const impala_config& config) {
  auto learner = make_learner(shape, config);
  const auto report = learner.update(batch);
  CHECK(report["train/importance_weight"] == 1.0);
  return learner.parameters().clone();
}

}  // namespace

TEST_CASE("impala: the targets of a stale batch are V-trace's by the present networks") {
  const auto options = learner_options(small());
  actor_critic model(shape, small().policy, 3);
  detail::minibatch buffer(shape);
  const auto original = stale_batch(1.0);
  auto batch = original;
  kernel_graph g;
  const auto found = detail::vtrace_targets_of(g, batch, model, options, true, buffer);

  const auto value = model.values(original.obs.flatten(0, 1)).view_as(original.reward);
  CHECK(at::equal(found.value, value));
  const auto ratio = (batch.log_prob - original.log_prob).exp();
  CHECK((ratio - 1).abs().max().item<double>() > 0.01);
  auto final_value = at::zeros_like(original.reward);
  if (original.final_obs.size(0) > 0) {
    final_value.index_put_({original.final_index.select(1, 0), original.final_index.select(1, 1)},
                           model.values(original.final_obs));
  }
  const auto expected = vtrace({.reward = original.reward,
                                .value = value,
                                .terminated = original.terminated,
                                .truncated = original.truncated,
                                .final_value = final_value,
                                .bootstrap_value = model.values(original.bootstrap_obs)},
                               ratio, {.gamma = options.gamma});
  CHECK(at::allclose(found.returns, expected.returns));
  CHECK(at::allclose(found.advantage, expected.advantage));
}

TEST_CASE("impala: importance weights are cut at their caps") {
  // Where the other policy's probabilities are a thousandth, all ratios lie above the caps.
  const auto far = weights_after(stale_batch(1e-3), small());
  CHECK(at::equal(far, weights_after(stale_batch(1e-4), small())));
  CHECK_FALSE(at::equal(far, weights_after(stale_batch(1.0), small())));
  auto config = small();
  config.trainer.importance_cap = 1.5;
  CHECK_FALSE(at::equal(far, weights_after(stale_batch(1e-3), config)));
  config = small();
  config.trainer.trace_cap = 0.5;
  CHECK_FALSE(at::equal(far, weights_after(stale_batch(1e-3), config)));
}

TEST_CASE("impala: several gradient steps are clipped at the policy before them") {
  auto config = small();
  config.trainer.lr = 0.05;
  config.trainer.n_epochs = 8;
  const auto free = weights_after(stale_batch(1.0), config);
  config.trainer.clip_range = 0.1;
  CHECK_FALSE(at::equal(free, weights_after(stale_batch(1.0), config)));
  config.trainer.n_epochs = 1;
  const auto single = weights_after(stale_batch(1.0), config);
  config.trainer.clip_range = 0.5;
  CHECK(at::equal(single, weights_after(stale_batch(1.0), config)));
}

TEST_CASE("impala_config: defaults are RLlib's") {
  const auto c = parse_config<impala_config>(load_config({}, {}));
  CHECK(c.algo == "impala");
  CHECK(c.mode == training_mode::async);
  CHECK(c.rollout.n_steps == 50);
  CHECK(c.steps_of_update() == 500);
  CHECK(c.trainer.lr == 5e-4);
  CHECK(c.trainer.ent_coef == 0.01);
  CHECK(c.trainer.vf_coef == 0.5);
  CHECK(c.trainer.max_grad_norm == 40);
  CHECK(c.trainer.importance_cap == 1);
  CHECK(c.trainer.trace_cap == 1);
  CHECK_FALSE(c.trainer.clip_range);
  CHECK(c.trainer.optimizer == optimizer_kind::adam);
}

}  // namespace troupe

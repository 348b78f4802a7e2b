// An on-policy algorithm of a user's own, which differs from PPO in its loss alone: PPO with a
// penalty on the KL divergence in place of clipping. What it takes stands above the test cases.

#include "actors/torch/torch.hpp"

#include <nlohmann/json.hpp>
#include <set>

#include "algorithms/losses/gae.hpp"
#include "algorithms/on_policy/on_policy.hpp"
#include "algorithms/run/load_policy.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/gradients/reference_policy.hpp"
#include "tests/algorithms/on_policy/ppo/acted_batch.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

// ---- its configuration

struct kl_ppo_options : on_policy_options {
  double kl_coef = 1.0;  ///< beta, weight of the penalty
};

struct kl_ppo_config : on_policy_config {
  kl_ppo_config() { algo = "kl_ppo"; }

  kl_ppo_options trainer;
};

void describe(options_schema<kl_ppo_options>& s) {
  describe_update_rule(s, "adam_eps");
  describe_advantages(s);
  describe_epochs(s);
  s.field("kl_coef", &kl_ppo_options::kl_coef).at_least(0).help("weight of the penalty");
}

void describe(options_schema<kl_ppo_config>& s) {
  describe_on_policy(s);
  describe_trainer(s);
}

// ---- its loss

/// Schulman et al. 2017, https://arxiv.org/abs/1707.06347, equation 8: the mean of
/// r A - beta KL(old, new), r the ratio of probabilities, is made large. The divergence is
/// estimated by (r - 1) - log r (Schulman 2020, http://joschu.net/blog/kl-approx.html).
ppo_loss_result kl_penalised_loss(const ppo_loss_inputs& in, const kl_ppo_options& options) {
  const auto log_ratio = in.log_prob - in.behaviour_log_prob;
  const auto ratio = exp(log_ratio);
  const auto kl = mean(ratio - 1 - log_ratio);
  const auto policy_loss = -mean(ratio * in.advantage);
  const auto value_loss = mean(square(in.returns - in.value));
  const auto entropy_loss = -mean(in.entropy);
  const auto loss = policy_loss + options.kl_coef * kl + options.vf_coef * value_loss +
                    options.ent_coef * entropy_loss;
  return {loss,
          {.loss = number(loss),
           .policy_gradient_loss = number(policy_loss),
           .value_loss = number(value_loss),
           .entropy_loss = number(entropy_loss),
           .approx_kl = number(kl)}};
}

// ---- the algorithm

on_policy_learner make_learner(const network_shape& shape, const kl_ppo_config& config) {
  on_policy_loss loss{.name = "kl_ppo",
                      .function = [options = config.trainer](const ppo_loss_inputs& in, double) {
                        return kl_penalised_loss(in, options);
                      }};
  return {shape, learner_options(config), std::move(loss), config.seed};
}

algorithm algorithm_with(const kl_ppo_config& config) { return on_policy_algorithm(config); }

// ---- what is expected of it

const network_shape shape{.obs_size = 4, .discrete_actions = 3};

kl_ppo_config parse(const std::vector<std::string>& overrides) {
  auto config = parse_config<kl_ppo_config>(load_config({}, overrides));
  config.seed = 3;
  return config;
}

/// By other weights than the learner's, so that the ratios are not 1.
rollout_batch batch_of_others() {
  actor_critic others(shape, {}, 9);
  auto generator = at::make_generator<at::CPUGeneratorImpl>(5);
  others.parameters().add_(at::randn({others.parameter_count()}, generator), 0.3);
  return acted_batch(others, 16, 4);
}

TEST_CASE("an own loss: the learner's gradient is that of the loss, on both engines") {
  for (const char* backend : {"policy.backend=fused", "policy.backend=libtorch"}) {
    CAPTURE(backend);
    auto learner = make_learner(
        shape, parse({backend, "trainer.kl_coef=0.7", "trainer.ent_coef=0.02", "trainer.n_epochs=1",
                      "trainer.batch_size=64", "trainer.normalize_advantage=false"}));
    const auto batch = batch_of_others();

    const reference_policy reference(learner.model());
    const auto now = reference.evaluate(batch.obs.flatten(0, 1), batch.action.flatten(0, 1));
    const auto targets = gae({.reward = batch.reward,
                              .value = batch.value,
                              .terminated = batch.terminated,
                              .truncated = batch.truncated,
                              .final_value = batch.final_value,
                              .bootstrap_value = batch.bootstrap_value},
                             {.gamma = 0.99, .lambda = 0.95});
    const auto log_ratio = now.log_prob - batch.log_prob.flatten();
    const auto row_loss = -log_ratio.exp() * targets.advantage.flatten() +
                          0.7 * (log_ratio.exp() - 1.0 - log_ratio) - 0.02 * now.entropy +
                          0.5 * (now.value - targets.returns.flatten()).square();
    const auto expected = reference.gradient_of(row_loss.mean());

    const auto report = learner.update(batch);
    CHECK(report["train/loss"] == Approx(row_loss.mean().item<double>()).epsilon(1e-5));
    CHECK(report["train/approx_kl"] > 0.01);
    const auto apart = (learner.model().gradient() - expected).abs().max().item<double>();
    CHECK(apart < 1e-5 * expected.abs().max().item<double>());
  }
}

TEST_CASE("an own loss: updates make it small, and the penalty holds the policy back") {
  std::vector<double> divergence;
  for (const char* kl_coef : {"trainer.kl_coef=0", "trainer.kl_coef=20"}) {
    auto learner =
        make_learner(shape, parse({kl_coef, "trainer.lr=1e-3", "trainer.batch_size=64"}));
    const auto batch = acted_batch(learner.model(), 16, 4);
    const double first = learner.update(batch)["train/value_loss"];
    learner_report last;
    for (int update = 0; update < 4; ++update) last = learner.update(batch);
    CHECK(last.optimizer_steps == 10);
    CHECK(last["train/value_loss"] < first);
    divergence.push_back(last["train/approx_kl"]);
  }
  CHECK(divergence[1] < 0.2 * divergence[0]);
}

TEST_CASE("an own loss: a run trains with it, by the options of its configuration") {
  const temporary_folder folder;
  std::set<std::string> ends;
  for (const char* kl_coef : {"trainer.kl_coef=0", "trainer.kl_coef=20"}) {
    auto config = parse({kl_coef, "trainer.batch_size=32", "trainer.n_epochs=2", "env.n_envs=2",
                         "rollout.n_steps=32", "total_steps=192", "policy.hidden=[8]",
                         "evaluation.final_episodes=1", "deterministic=true"});
    system sys({.threads = 1, .deterministic = true});
    const auto summary = sys.run(train_in(sys, config, {.root = folder.path}));
    CHECK(summary.algo == "kl_ppo");
    CHECK(summary.steps == 192);
    ends.insert(summary.weights_sha256);
    auto policy = load_policy(summary.run_directory);
    CHECK(policy.algorithm() == "kl_ppo");
    CHECK(policy.act(std::vector<float>(4, 0.1f)).discrete.size() == 1);
  }
  CHECK(ends.size() == 2);
}

}  // namespace
}  // namespace troupe

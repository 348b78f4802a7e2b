#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/ppo/config.hpp"

#include <nlohmann/json.hpp>

#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using testing::has_text;

ppo_config parse(const std::vector<std::string>& overrides) {
  return parse_config<ppo_config>(load_config({}, overrides));
}

}  // namespace

TEST_CASE("ppo_config: defaults are Stable-Baselines3's") {
  const auto c = parse({});
  CHECK(c.rollout.n_steps == 2048);
  CHECK(c.env.n_envs == 1);
  CHECK(c.trainer.lr == 3e-4);
  CHECK(c.trainer.batch_size == 64);
  CHECK(c.trainer.n_epochs == 10);
  CHECK(c.trainer.gamma == 0.99);
  CHECK(c.trainer.gae_lambda == 0.95);
  CHECK(c.trainer.clip_range == 0.2);
  CHECK_FALSE(c.trainer.clip_range_vf);
  CHECK(c.trainer.ent_coef == 0);
  CHECK(c.trainer.vf_coef == 0.5);
  CHECK(c.trainer.max_grad_norm == 0.5);
  CHECK_FALSE(c.trainer.target_kl);
  CHECK(c.policy.hidden == std::vector<int>{64, 64});
}

TEST_CASE("ppo_config: overrides reach every section, and the learner") {
  const auto c = parse({"env.id=X-v0", "env.n_envs=8", "rollout.n_steps=16", "mode=async",
                        "trainer.lr=1e-3", "trainer.target_kl=0.02", "policy.hidden=[32]",
                        "policy.activation=relu", "evaluation.every_steps=0", "total_steps=1e6"});
  CHECK(c.env.id == "X-v0");
  CHECK(c.env.n_envs == 8);
  CHECK(c.mode == training_mode::async);
  CHECK(c.total_steps == 1'000'000);
  CHECK(c.rollout.n_steps == 16);
  const auto learner = learner_options(c);
  CHECK(learner.lr == 1e-3);
  CHECK(learner.target_kl == 0.02);
  CHECK(learner.network.hidden == std::vector<int>{32});
  CHECK(learner.network.hidden_activation == activation::relu);
}

TEST_CASE("ppo_config: state-dependent exploration") {
  CHECK_FALSE(parse({}).policy.use_sde);
  CHECK(parse({}).policy.sde_sample_freq == -1);
  const auto c = parse({"policy.use_sde=true", "policy.sde_sample_freq=4",
                        "policy.log_std_init=-3.29", "policy.ortho_init=false"});
  CHECK(learner_options(c).network.use_sde);
  CHECK(learner_options(c).network.sde_sample_freq == 4);
  CHECK(learner_options(c).network.log_std_init == -3.29f);
  CHECK_THROWS_WITH(parse({"policy.sde_sample_freq=0"}), has_text("-1 or a number > 0"));
}

TEST_CASE("ppo_config: faults are of a deterministic run, and a plan") {
  CHECK(parse({"deterministic=true", "faults=\"crash=0.5\""}).plan().crash == 0.5);
  CHECK(parse({"deterministic=true", "faults=random"}).plan().random);
  CHECK_FALSE(parse({"deterministic=true"}).plan().any());
  CHECK_THROWS_WITH(
      parse({"faults=random"}),
      has_text("/faults: expected \"\" where deterministic is false, got \"random\""));
  CHECK_THROWS_WITH(parse({"deterministic=true", "faults=often"}),
                    has_text("/faults: expected random, or faults such as"));
}

TEST_CASE("ppo_config: updates are whole, and reach the steps asked for") {
  ppo_config c;
  c.total_steps = 100'000;
  CHECK(c.steps_of_update() == 2048);
  CHECK(c.updates() == 49);
  CHECK(c.updates() * c.steps_of_update() == 100'352);
  c.total_steps = 2048;
  CHECK(c.updates() == 1);
  c.total_steps = 2049;
  CHECK(c.updates() == 2);
  c.total_steps = 1;
  CHECK(c.updates() == 1);
  c.env.n_envs = 3;
  c.rollout.batch = 2;
  CHECK(c.steps_of_update() == 12'288);
  c.total_steps = 1'000'000'000'000'000;
  CHECK(c.updates() * c.steps_of_update() >= c.total_steps);
}

TEST_CASE("ppo_config: what is written is read again, unchanged") {
  const auto c = parse({"env.n_envs=4", "seed=18446744073709551615", "trainer.clip_range_vf=0.2"});
  const auto again = parse_config<ppo_config>(to_json(c));
  CHECK(to_json(again) == to_json(c));
  CHECK(again.seed == 18446744073709551615u);
}

TEST_CASE("ppo_config: a value out of range is refused with its path, the limit and itself") {
  const std::pair<const char*, const char*> cases[] = {
      {"trainer.lr=fast", R"(/trainer/lr: expected a number > 0, got "fast")"},
      {"trainer.lr=0", "/trainer/lr: expected a number > 0, got 0"},
      {"trainer.gamma=1.5", "/trainer/gamma: expected a number >= 0 and <= 1, got 1.5"},
      {"total_steps=0", "/total_steps: expected an integer >= 1"},
      {"total_steps=1e300", "/total_steps: expected an integer >= 1 and <= 1e+15, got 1e+300"},
      {"total_steps=2.5", "/total_steps: expected an integer"},
      {"seed=-1", "/seed: expected an integer from 0"},
      {"env.n_envs=0", "/env/n_envs: expected an integer >= 1"},
      {"rollout.max_staleness=-1", "/rollout/max_staleness: expected an integer >= 0"},
      {"policy.hidden=[64,0]", "/policy/hidden/1: expected an integer >= 1"},
      {"mode=asink", R"(/mode: unknown value "asink"; did you mean "async"?)"},
      {"trainer.lrr=1", R"(/trainer/lrr: unknown key "lrr"; did you mean "lr"?)"},
      {"rollout.groups=3", "/rollout/groups: expected a divisor of env.n_envs, 64, got 3"},
      {"rollout.n_steps=16777216",
       "/rollout/n_steps: expected at most 2^28 environment steps an update, with env.n_envs of 64 "
       "and rollout.batch of 1, got 16777216"},
  };
  for (const auto& [text, message] : cases) {
    INFO(text);
    CHECK_THROWS_WITH(parse({"env.n_envs=64", text}), has_text(message));
  }
}

}  // namespace troupe

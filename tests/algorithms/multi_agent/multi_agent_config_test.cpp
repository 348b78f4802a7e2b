#include "actors/torch/torch.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "algorithms/multi_agent/off_policy/iql/config.hpp"
#include "algorithms/multi_agent/off_policy/maddpg/config.hpp"
#include "algorithms/multi_agent/off_policy/qmix/config.hpp"
#include "algorithms/multi_agent/off_policy/vdn/config.hpp"
#include "algorithms/multi_agent/on_policy/coma/config.hpp"
#include "algorithms/multi_agent/on_policy/ippo/config.hpp"
#include "algorithms/multi_agent/on_policy/mappo/config.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/support.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Contains;

// What a run of docs/algorithms has that sets nothing. A default changes what users have learned
// and compared, so it does not change by accident.
TEST_CASE("multi_agent_config: the defaults of IPPO and MAPPO are those of their pages") {
  const auto check = [](const auto& c) {
    CHECK(c.env.id == "simple_spread_v3");
    CHECK(c.env.n_envs == 64);
    CHECK(c.rollout.n_steps == 25);
    CHECK(c.trainer.lr == 1e-3);
    CHECK(c.trainer.n_epochs == 10);
    CHECK(c.trainer.batch_size == 600);
    CHECK(c.trainer.gamma == 0.95);
    CHECK(c.trainer.gae_lambda == 0.9);
    CHECK(c.trainer.normalize_value);
    CHECK(c.trainer.ent_coef == 0.003);
    CHECK(c.trainer.vf_coef == 1.0);
    CHECK(c.trainer.max_grad_norm == 10.0);
    CHECK(c.trainer.normalize_reward == reward_scaling::none);
    CHECK(c.policy.hidden == std::vector<int>{64, 64});
  };
  check(ippo_config());
  check(mappo_config());
  CHECK(ippo_config().critic == central_input::none);
  CHECK(mappo_config().critic == central_input::state);
}

TEST_CASE("multi_agent_config: the defaults of COMA are those of its page") {
  const coma_config c;
  CHECK(c.env.n_envs == 16);
  CHECK(c.rollout.n_steps == 25);
  CHECK(c.critic == central_input::state);
  CHECK(c.agents.shared_reward == 1);
  CHECK(c.trainer.lr == 5e-4);
  CHECK(c.trainer.critic_lr == 1e-3);
  CHECK(c.trainer.gamma == 0.9);
  CHECK(c.trainer.gae_lambda == 0.8);
  CHECK(c.trainer.batch_size == 96);
  CHECK(c.trainer.n_epochs == 4);
  CHECK(c.trainer.ent_coef == 0.01);
  CHECK(c.trainer.max_grad_norm == 10.0);
  CHECK(c.trainer.optimizer == optimizer_kind::rmsprop);
  CHECK(c.trainer.target_interval == 150);
}

TEST_CASE("multi_agent_config: the defaults of IQL, VDN and QMIX are those of their pages") {
  const auto check = [](const joint_q_config& c, const joint_q_options& trainer) {
    CHECK(c.env.id == "simple_spread_v3");
    CHECK(c.env.n_envs == 8);
    CHECK(c.collection.learning_starts == 1000);
    CHECK(c.policy.hidden == std::vector<int>{64, 64});
    CHECK(trainer.lr == 1e-3);
    CHECK(trainer.gamma == 0.9);
    CHECK(trainer.batch_size == 256);
    CHECK(trainer.target_update_interval == 1);
    CHECK(trainer.tau == 0.01);
    CHECK(trainer.double_q);
  };
  const iql_config iql;
  const vdn_config vdn;
  const qmix_config qmix;
  check(iql, iql.trainer);
  check(vdn, vdn.trainer);
  check(qmix, qmix.trainer);
  CHECK(qmix.mixer.input == mixer_input::state);
  CHECK(qmix.mixer.embed_dim == 32);
  CHECK(qmix.mixer.hyper_hidden == std::vector<int>{64});
}

TEST_CASE("multi_agent_config: the defaults of MADDPG and MATD3 are those of their pages") {
  const auto check = [](const maddpg_config& c) {
    CHECK(c.env.id == "simple_spread_v3");
    CHECK(c.env.n_envs == 8);
    CHECK(c.collection.learning_starts == 1000);
    CHECK(c.policy.hidden == std::vector<int>{64, 64});
    CHECK(c.noise.kind == noise_kind::normal);
    CHECK(c.critic == critic_input::observations);
    CHECK(c.trainer.lr == 1e-3);
    CHECK(c.trainer.gamma == 0.95);
    CHECK(c.trainer.tau == 0.01);
    CHECK(c.trainer.max_grad_norm == 0.5);
  };
  check(maddpg_config());
  check(matd3_config());
  CHECK(maddpg_config().trainer.policy_delay == 1);
  CHECK(maddpg_config().trainer.n_critics == 1);
  CHECK(matd3_config().trainer.policy_delay == 2);
  CHECK(matd3_config().trainer.n_critics == 2);
}

template <class Config>
void require_scaling(const char* algo) {
  CAPTURE(algo);
  const auto c = parse_config<Config>(load_config({}, {"trainer.normalize_reward=standardize"}));
  CHECK(c.trainer.normalize_reward == reward_scaling::standardize);
}

TEST_CASE("multi_agent_config: every algorithm takes trainer.normalize_reward") {
  require_scaling<ippo_config>("ippo");
  require_scaling<mappo_config>("mappo");
  require_scaling<coma_config>("coma");
  require_scaling<iql_config>("iql");
  require_scaling<vdn_config>("vdn");
  require_scaling<qmix_config>("qmix");
  require_scaling<maddpg_config>("maddpg");
  require_scaling<matd3_config>("matd3");
}

template <class Config>
std::string refusal_of(const std::string& override) {
  return testing::message_of<config_error>(
      [&] { parse_config<Config>(load_config({}, {override})); });
}

TEMPLATE_TEST_CASE("multi_agent_config: what can't be with several agents is refused", "",
                   ippo_config, mappo_config, coma_config, iql_config, vdn_config, qmix_config,
                   maddpg_config, matd3_config) {
  const auto refusal = refusal_of<TestType>("env.normalize_obs=true");
  if (std::is_base_of_v<on_policy_config, TestType>) {
    CHECK(refusal.empty());
  } else {
    CHECK(refusal ==
          "/env/normalize_obs: expected false with several agents and a replay buffer, got true");
  }
  CHECK(refusal_of<TestType>("env.normalize_reward=true") ==
        "/env/normalize_reward: expected false with several agents, got true");
  CHECK(refusal_of<TestType>("env.normalize_obs=false").empty());
}

TEST_CASE("multi_agent_config: what an algorithm can't do with several agents is refused") {
  CHECK(refusal_of<mappo_config>("policy.use_sde=true") ==
        "/policy/use_sde: expected false with several agents, got true");
  CHECK(refusal_of<matd3_config>("replay.n_step=2") ==
        "/replay/n_step: expected 1 with several agents, got 2");
  // COMA has no such option, but a program can set the member.
  coma_config coma;
  coma.trainer.replicas = 2;
  CHECK(testing::message_of<std::invalid_argument>([&] { checked_options(coma, "it"); }) ==
        "it/trainer/replicas: expected 1 with coma, got 2");
  mappo_config mappo;
  mappo.trainer.replicas = 2;
  CHECK(testing::message_of<std::invalid_argument>([&] { checked_options(mappo, "it"); }).empty());
  mappo.agents.shared_reward = 0.5;
  CHECK(testing::message_of<std::invalid_argument>([&] { checked_options(mappo, "it"); }) ==
        "it/trainer/replicas: expected 1 where agents get their share of the reward after their "
        "own ends (agents.reward_after_end), got 2");
}

TEST_CASE("multi_agent_config: counts of COMA are at least 1") {
  for (const std::string option : {"batch_size", "critic_epochs", "target_interval"}) {
    const auto parse = [&] {
      return parse_config<coma_config>(load_config({}, {"trainer." + option + "=0"}));
    };
    CHECK_THROWS_WITH(parse(), Contains("trainer/" + option));
  }
}

}  // namespace
}  // namespace troupe

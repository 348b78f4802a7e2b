#include "actors/torch/torch.hpp"

#include "algorithms/program/built_in_algorithms.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/language_models/grpo/grpo_algorithm.hpp"
#include "algorithms/program/context.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using nlohmann::json;

/// All that the troupe command has.
command::context known() {
  command::context all{.program = "troupe", .algorithms = built_in_algorithms(), .environment = ""};
  all.algorithms.push_back(grpo_algorithm());
  return all;
}

/// A schema's defaults as the configuration that they are of.
json defaults_of(const json& schema) {
  json values = json::object();
  for (const auto& [name, option] : schema.at("properties").items()) {
    values[name] = option.contains("properties") ? defaults_of(option) : option.at("default");
  }
  return values;
}

/// `by_task`: the task decides what is left open.
void check_equal(const json& defaults, const json& run, bool by_task) {
  for (const auto& [name, value] : defaults.items()) {
    INFO(name);
    if (value.is_object()) {
      check_equal(value, run.at(name), by_task);
    } else if (!by_task || !value.is_null()) {
      CHECK(value == run.at(name));
    }
  }
}

TEST_CASE("algorithms: a schema's defaults are those of a run that sets nothing") {
  const auto all = known();
  for (const auto& each : all.algorithms) {
    INFO(each.name);
    const auto run = json::parse(each.configure(json::object(), {}).settings.config);
    const auto schema = each.schema();
    const auto defaults = defaults_of(schema);
    CHECK(defaults.size() == run.size());
    check_equal(defaults, run, each.name == "grpo");
    for (const auto& [name, option] : schema.at("properties").items()) {
      INFO(name);
      CHECK(option.at("default") == defaults.at(name));
    }
  }
  const auto a2c = defaults_of(all.find("a2c").schema());
  CHECK(a2c["rollout"]["n_steps"] == 5);
  CHECK(a2c["log"]["every_updates"] == 100);
  const auto ddpg = defaults_of(all.find("ddpg").schema());
  CHECK(ddpg["env"]["id"] == "Pendulum-v1");
  CHECK(ddpg["policy"]["hidden"] == json({400, 300}));
  CHECK(ddpg["trainer"]["n_critics"] == 1);
}

TEST_CASE("algorithms: options that have no effect beside the others are told of") {
  const auto all = known();
  const auto idle = [&](const std::string& algo, const std::vector<std::string>& overrides) {
    const auto made = all.find(algo).configure(load_config({}, overrides), {});
    std::vector<std::string> names;
    for (const auto& each : made.settings.idle) names.push_back(each.name);
    return names;
  };
  using names = std::vector<std::string>;
  for (const auto& each : all.algorithms) {
    INFO(each.name);
    CHECK(idle(each.name, {}).empty());
  }
  CHECK(
      idle("ppo", {"rollout.workers=3", "checkpoint.keep=9", "evaluation.every_steps=0",
                   "evaluation.stop_at=475", "policy.sde_sample_freq=4"}) ==
      names{"evaluation.stop_at", "checkpoint.keep", "rollout.workers", "policy.sde_sample_freq"});
  CHECK(idle("ppo",
             {"rollout.workers=3", "mode=async", "policy.use_sde=true", "policy.sde_sample_freq=4"})
            .empty());
  CHECK(idle("a2c", {"trainer.optimizer=adam", "trainer.rmsprop_alpha=0.9"}) ==
        names{"trainer.rmsprop_alpha"});
  CHECK(idle("a2c", {"trainer.rmsprop_alpha=0.9"}).empty());
  CHECK(idle("reinforce", {"trainer.baseline=false", "trainer.vf_coef=1"}) ==
        names{"trainer.vf_coef"});
  CHECK(idle("dqn", {"collection.workers=2"}) == names{"collection.workers"});
  CHECK(idle("sac", {"trainer.ent_coef=0.1", "trainer.target_entropy=-2"}) ==
        names{"trainer.target_entropy"});
  CHECK(idle("td3", {"noise.std=0.3"}) == names{"noise.std"});
  CHECK(idle("ddpg", {"noise.std=0.3", "noise.kind=normal", "noise.theta=0.2"}) ==
        names{"noise.theta"});
}

}  // namespace
}  // namespace troupe

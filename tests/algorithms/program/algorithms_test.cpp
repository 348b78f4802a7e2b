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
      names{"checkpoint.keep", "evaluation.stop_at", "policy.sde_sample_freq", "rollout.workers"});
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
  CHECK(idle("q_learning", {"collection.max_staleness=3"}) == names{"collection.max_staleness"});
  CHECK(idle("dqn", {"trainer.weight_decay_of=matrices"}) == names{"trainer.weight_decay_of"});
}

TEST_CASE("algorithms: options of the value loss need a value loss, and some need clipping") {
  const auto all = known();
  const auto why = [&](const std::vector<std::string>& overrides) {
    return all.find("ppo").configure(load_config({}, overrides), {}).settings.idle.at(0).why;
  };
  CHECK(why({"trainer.clip_vf_loss=larger"}) ==
        "it has an effect only if trainer.clip_range_vf has a value");
  CHECK(why({"trainer.clip_vf_loss=larger", "trainer.vf_coef=0"}) ==
        "it has an effect only if trainer.clip_range_vf has a value and trainer.vf_coef is above "
        "0");
  CHECK(why({"trainer.huber_delta=1", "trainer.vf_coef=0"}) ==
        "it has an effect only if trainer.vf_coef is above 0");
}

TEST_CASE("algorithms: tasks replace env.id, and a schedule needs tasks") {
  const auto all = known();
  const auto idle = [&](const std::string& algo, const std::vector<std::string>& overrides) {
    std::vector<std::string> names;
    const auto made = all.find(algo).configure(load_config({}, overrides), {});
    for (const auto& each : made.settings.idle) names.push_back(each.name);
    return names;
  };
  const std::string tasks = R"(env.tasks=[{"id":"CartPole-v1"},{"id":"Acrobot-v1"}])";
  using names = std::vector<std::string>;
  CHECK(idle("ppo", {"env.schedule.rule=proportional", "env.schedule.window=7"}) ==
        names{"env.schedule.rule", "env.schedule.window"});
  CHECK(idle("ppo", {tasks, "env.schedule.rule=proportional"}).empty());
  CHECK(idle("ppo", {tasks, "env.id=Acrobot-v1", "env.schedule.longest_wait=5"}) ==
        names{"env.id", "env.schedule.longest_wait"});
  // Nobody gave sac the name of its own environment.
  CHECK(idle("sac", {R"(env.tasks=[{"id":"Pendulum-v1"}])"}).empty());
}

TEST_CASE("algorithms: options of agents are told where an algorithm has no use for them") {
  const auto all = known();
  const auto idle = [&](const std::string& algo, const std::vector<std::string>& overrides) {
    std::vector<std::string> told;
    const auto made = all.find(algo).configure(load_config({}, overrides), {});
    for (const auto& each : made.settings.idle) told.push_back(each.name + ": " + each.why);
    return told;
  };
  using lines = std::vector<std::string>;
  const auto needs_share = "it has an effect only if agents.shared_reward is above 0";
  const auto of = [](const std::string& name, const std::string& why) { return name + ": " + why; };
  const std::string continuous = R"(env.options={"continuous_actions":true})";
  for (const auto* algo : {"iql", "ippo", "mappo"}) {
    INFO(algo);
    CHECK(idle(algo, {"agents.team=policy"}) == lines{of("agents.team", needs_share)});
    CHECK(idle(algo, {"agents.team=policy", "agents.shared_reward=0.5"}).empty());
    CHECK(idle(algo, {R"(agents.policies={"*":"all"})", "agents.share=false"}) ==
          lines{"agents.share: it has an effect only if agents.policies is {}"});
  }
  for (const std::string algo : {"vdn", "qmix"}) {
    INFO(algo);
    CHECK(idle(algo, {"agents.shared_reward=0.5"}) ==
          lines{of("agents.shared_reward",
                   algo + " trains all agents on the mean of their rewards")});
  }
  CHECK(idle("maddpg", {continuous, "agents.reward_after_end=false", "agents.shared_reward=1"}) ==
        lines{of("agents.reward_after_end", "maddpg gives an agent no reward after its end")});
}

TEST_CASE("algorithms: the help of an option says when it has an effect and what it must be") {
  const auto all = known();
  const auto help = [&](const std::string& algo, const char* option) {
    return all.find(algo).schema().at(json::json_pointer(option)).at("description").dump();
  };
  CHECK_THAT(help("ppo", "/properties/trainer/properties/clip_vf_loss"),
             Catch::EndsWith("It has an effect only if trainer.clip_range_vf has a value and "
                             "trainer.vf_coef is above 0.\""));
  CHECK_THAT(help("qmix", "/properties/replay/properties/n_step"),
             Catch::EndsWith("It must be 1 with several agents.\""));
  CHECK_THAT(help("qmix", "/properties/agents/properties/team"),
             Catch::EndsWith("It has no effect, as qmix trains all agents on the mean of their "
                             "rewards.\""));
  CHECK_THAT(help("grpo", "/properties/world/properties/turns"),
             Catch::EndsWith("It has an effect only if the task is a world.\""));
}

}  // namespace
}  // namespace troupe

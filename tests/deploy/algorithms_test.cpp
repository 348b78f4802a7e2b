#include "actors/torch.hpp"

#include "deploy/troupe/algorithms.hpp"

#include <nlohmann/json.hpp>

#include "tests/test.hpp"

namespace troupe::command {
namespace {

using nlohmann::json;

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
  for (const auto& each : algorithms()) {
    INFO(each.name);
    const auto run = json::parse(each.configure(json::object(), {}).settings.config);
    const auto schema = each.schema();
    const auto defaults = defaults_of(schema);
    CHECK(defaults.size() == run.size());
    check_equal(defaults, run, each.name == std::string("grpo"));
    for (const auto& [name, option] : schema.at("properties").items()) {
      INFO(name);
      CHECK(option.at("default") == defaults.at(name));
    }
  }
  const auto a2c = defaults_of(find_algorithm("a2c").schema());
  CHECK(a2c["rollout"]["n_steps"] == 5);
  CHECK(a2c["log"]["every_updates"] == 100);
  const auto ddpg = defaults_of(find_algorithm("ddpg").schema());
  CHECK(ddpg["env"]["id"] == "Pendulum-v1");
  CHECK(ddpg["policy"]["hidden"] == json({400, 300}));
  CHECK(ddpg["trainer"]["n_critics"] == 1);
}

}  // namespace
}  // namespace troupe::command

#include "actors/environments/multi_agent_environment.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "actors/environments/vector_env.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using result_list = std::span<agent_step>;

/// Two agents, "left" and "right", that do what a test says. Each sees the steps since the reset.
class scripted_agents final : public multi_agent_environment {
 public:
  struct script {
    bool vary = false, masks = false, state = false;
    std::optional<std::int64_t> limit = {};
    std::function<void(std::int64_t t, joint_action, joint_observation, result_list)> on_step = {};
  };
  explicit scripted_agents(script what) : script_(std::move(what)) {}

  env_spec spec() const override {
    return with_joint_spaces(
        {.id = "Agents-v0",
         .max_episode_steps = script_.limit,
         .agents = {{"left", spaces::box(-9, 9, {1}), spaces::discrete(3)},
                    {"right", spaces::box(-9, 9, {2}), spaces::discrete(2, 5)}},
         .state_space =
             script_.state ? std::optional<space>(spaces::box(-9, 9, {1})) : std::nullopt,
         .agents_vary = script_.vary,
         .action_masks = script_.masks});
  }
  void begin(std::optional<std::uint64_t>, joint_observation obs) override {
    t_ = 0;
    show(obs);
  }
  void act(joint_action actions, joint_observation obs, result_list results) override {
    ++t_;
    show(obs);
    results[0].reward = 1;
    results[1].reward = 3;
    if (script_.on_step) script_.on_step(t_, actions, obs, results);
  }

 private:
  void show(joint_observation obs) const {
    obs[0][0] = static_cast<float>(t_);
    obs[1][0] = static_cast<float>(10 + t_);
    obs[1][1] = static_cast<float>(20 + t_);
    if (script_.state) obs.state()[0] = static_cast<float>(30 + t_);
  }
  script script_;
  std::int64_t t_ = 0;
};

vector_env<scripted_agents> worlds_of(const scripted_agents::script& what, std::size_t count = 1) {
  return {count, [what] { return scripted_agents(what); }};
}

env_actions actions_for(std::size_t count) {
  env_actions actions;
  for (std::size_t i = 0; i < count; ++i) {
    actions.discrete.push_back(static_cast<std::int64_t>(i % 3));
    actions.discrete.push_back(5);
  }
  return actions;
}

std::vector<float> floats(const recycled_vector<float>& of) { return {of.begin(), of.end()}; }
std::vector<double> doubles(const recycled_vector<double>& of) { return {of.begin(), of.end()}; }
std::vector<int> ints(const recycled_vector<std::uint8_t>& of) { return {of.begin(), of.end()}; }

/// The message of the failure that a step reports.
std::string failure_of(const scripted_agents::script& what) {
  auto worlds = worlds_of(what);
  worlds.reset(1);
  for (int t = 0; t < 3; ++t) {
    const auto after = worlds.step(actions_for(1));
    if (!after.failures.empty()) return after.failures.front().message;
  }
  return "none";
}

}  // namespace

TEST_CASE("multi_agent_environment: rows have observations, state, who acts and what is allowed") {
  auto worlds = worlds_of({.vary = true,
                           .masks = true,
                           .state = true,
                           .on_step =
                               [](auto, joint_action, joint_observation obs, result_list) {
                                 obs.set_active(0, false);
                                 obs.action_mask(1)[0] = 0;
                               }},
                          2);
  const auto spec = worlds.spec();
  const agent_layout layout(spec);
  CHECK(layout.obs_size() == 1 + 2 + 1 + 2 + 5);
  CHECK(spec.observation_space.flat_size() == layout.obs_size());
  CHECK(floats(worlds.reset(1).obs) == std::vector<float>{0, 10, 20, 30, 1, 1, 1, 1, 1, 1, 1,  //
                                                          0, 10, 20, 30, 1, 1, 1, 1, 1, 1, 1});
  const auto after = worlds.step(actions_for(2));
  CHECK(floats(after.obs) == std::vector<float>{1, 11, 21, 31, 0, 1, 1, 1, 1, 0, 1,  //
                                                1, 11, 21, 31, 0, 1, 1, 1, 1, 0, 1});
  CHECK(doubles(after.agent_reward) == std::vector<double>{1, 3, 1, 3});
  CHECK(doubles(after.reward) == std::vector<double>{2, 2});
}

TEST_CASE("multi_agent_environment: each agent gets its own action") {
  std::vector<std::int64_t> seen;
  auto worlds = worlds_of({.on_step =
                               [&](auto, joint_action actions, joint_observation, result_list) {
                                 seen.push_back(actions[0].discrete());
                                 seen.push_back(actions[1].discrete());
                               }},
                          2);
  worlds.reset(1);
  env_actions actions;
  actions.discrete = {2, 6, 0, 5};
  worlds.step(actions);
  CHECK(seen == std::vector<std::int64_t>{2, 6, 0, 5});
  actions.discrete = {3, 5, 0, 5};
  CHECK_THROWS_AS(worlds.step(actions), wrong_actions);
}

TEST_CASE("multi_agent_environment: an agent may leave before the others; the last one ends it") {
  auto worlds = worlds_of(
      {.vary = true, .on_step = [](auto t, joint_action, joint_observation, result_list results) {
         if (t == 1) results[0].ended = episode_end::terminated;
         if (t == 2) results[1].ended = episode_end::truncated;
       }});
  worlds.reset(1);
  const auto first = worlds.step(actions_for(1));
  CHECK(ints(first.agent_ended) == std::vector<int>{1, 0});
  CHECK(first.finished.empty());
  CHECK(floats(first.obs) == std::vector<float>{1, 11, 21, 0, 1});
  const auto second = worlds.step(actions_for(1));
  CHECK(ints(second.agent_ended) == std::vector<int>{0, 2});
  REQUIRE(second.finished.size() == 1);
  CHECK(second.truncated[0] == 1);
  CHECK(second.finished[0].agent_returns == std::vector<double>{2, 6});
  CHECK(floats(second.finished[0].final_obs) == std::vector<float>{2, 12, 22, 0, 0});
  CHECK(floats(second.obs) == std::vector<float>{0, 10, 20, 1, 1});
}

TEST_CASE("multi_agent_environment: the time limit truncates the agents that are left") {
  auto worlds =
      worlds_of({.vary = true,
                 .limit = 2,
                 .on_step = [](auto t, joint_action, joint_observation, result_list results) {
                   if (t == 1) results[0].ended = episode_end::terminated;
                 }});
  worlds.reset(1);
  worlds.step(actions_for(1));
  const auto last = worlds.step(actions_for(1));
  CHECK(ints(last.agent_ended) == std::vector<int>{0, 2});
  CHECK(last.truncated[0] == 1);
  const auto begun = worlds.step(actions_for(1));
  CHECK(ints(begun.agent_ended) == std::vector<int>{1, 0});
}

TEST_CASE("multi_agent_environment: what an agent may not do is named, and its episode dropped") {
  const auto ends = [](std::size_t agent, std::int64_t when) {
    return [=](std::int64_t t, joint_action, joint_observation obs, result_list results) {
      if (t == when) results[agent].ended = episode_end::terminated;
      if (t > when) obs.set_active(agent, true);
    };
  };
  CHECK(failure_of({.vary = true, .on_step = ends(1, 1)}) ==
        "Agents-v0: agent \"right\" is to act after its end");
  CHECK(failure_of({.vary = true,
                    .on_step = [](auto, joint_action, joint_observation, result_list results) {
                      results[0].ended = episode_end::terminated;
                    }}) == "Agents-v0: agent \"left\" ended after its end");
  CHECK(failure_of({.on_step = [](auto, joint_action, joint_observation, result_list results) {
          results[0].ended = episode_end::terminated;
        }}) == "Agents-v0: agent \"right\" did not end when others did, which needs agents_vary");
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    CHECK(failure_of({.on_step = [=](auto, joint_action, joint_observation,
                                     result_list results) { results[1].reward = bad; }}) ==
          std::string("Agents-v0: agent \"right\" got ") +
              (std::isnan(bad) ? "a reward of NaN" : "an infinite reward"));
  }
  CHECK(failure_of({.on_step = [](auto, joint_action, joint_observation, result_list results) {
          results[1].reward = 1e300;
        }}) == "Agents-v0: agent \"right\" got a reward that no float of 32 bits has");
}

TEST_CASE("agent_layout: names must differ and actions be numbers") {
  const space obs = spaces::box(0, 1, {1});
  const auto with = [&](const std::string& name, const space& actions) {
    return with_joint_spaces(
        {.id = "X-v0", .agents = {{"a", obs, spaces::discrete(2)}, {name, obs, actions}}});
  };
  CHECK_THROWS_WITH(with("a", spaces::discrete(2)),
                    "X-v0: expected agents with names of their own, got \"a\" twice");
  CHECK_THROWS_WITH(with("", spaces::discrete(2)),
                    "X-v0: expected agents with names of their own, got \"\" for an agent");
  CHECK_NOTHROW(with(std::string(256, 'b'), spaces::discrete(2)));
  CHECK_THROWS_WITH(with(std::string(257, 'b'), spaces::discrete(2)),
                    "X-v0: expected agents with names of at most 256 bytes, got one of 257 bytes: "
                    "\"bbbbbbbbbbbbbbbbbbbb...\"");
  CHECK_THROWS_WITH(with("b", spaces::text(4)), Catch::StartsWith("X-v0: agent \"b\": "));
}

TEST_CASE("multi_agent_environment: a saved vector goes on with the agents' returns") {
  const scripted_agents::script what{.limit = 4};
  auto one = worlds_of(what), other = worlds_of(what);
  one.reset(1);
  one.step(actions_for(1));
  CHECK_FALSE(one.save());  // the environment itself has no save
}

}  // namespace troupe

// Environments with several agents in Python, which have the functions of PettingZoo's.

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "actors/environments/agent_layout.hpp"
#include "actors/python/python_environment.hpp"
#include "actors/worlds/check_world.hpp"
#include "actors/worlds/registry.hpp"
#include "tests/captured_stream.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using floats = recycled_vector<float>;
using doubles = recycled_vector<double>;
using bytes = recycled_vector<std::uint8_t>;

/// A request for a class of the test worlds, which need no PettingZoo.
environment_request world(const std::string& id, const std::string& options = "{}") {
  ::setenv("PYTHONPATH", testing::source_path("tests/actors/python/worlds").c_str(), 1);
  return {.id = id,
          .options = options,
          .python = {.interpreter = "/usr/bin/python3", .start_timeout = 60, .step_timeout = 20}};
}

/// The actions of one environment: that of ann, the two numbers of bob and the two of cid.
struct joint {
  std::int64_t ann = 2;
  float bob[2] = {0.5F, 0.25F};
  std::int64_t cid[2] = {1, 2};
};

env_actions actions_of(std::initializer_list<joint> each) {
  env_actions actions;
  for (const auto& one : each) {
    actions.discrete.insert(actions.discrete.end(), {one.ann, one.cid[0], one.cid[1]});
    actions.continuous.insert(actions.continuous.end(), {one.bob[0], one.bob[1]});
  }
  return actions;
}

TEST_CASE("python agents: the spec, joint rows, actions and rewards of agents that act at once") {
  const auto envs = make_vector_environment(world("zoo:Team"), 2);
  const auto spec = envs->spec();
  REQUIRE(spec.agents.size() == 3);
  CHECK(spec.agents[1].name == "bob");
  CHECK(spec.agents[1].observation_space.flat_size() == 2);
  CHECK(spec.agents[2].action_space == space(spaces::multi_discrete({2, 3})));
  CHECK(spec.agents_vary);
  CHECK_FALSE(spec.state_space);
  CHECK_FALSE(spec.action_masks);
  CHECK(spec == with_joint_spaces(spec));
  CHECK(envs->reset(7).obs == floats{700, 700, 700, 700, 700, 700, 1, 1, 1,  //
                                     800, 800, 800, 800, 800, 800, 1, 1, 1});
  const auto after = envs->step(actions_of({{}, {.ann = 0}}));
  CHECK(after.obs == floats{701, 701, 701, 701, 701, 701, 1, 1, 1,  //
                            801, 801, 801, 801, 801, 801, 1, 1, 1});
  CHECK(after.agent_reward == doubles{2, 0.75, 12, 0, 0.75, 12});
  CHECK(after.reward == doubles{14.75 / 3, 12.75 / 3});
  CHECK(after.agent_ended == bytes{0, 0, 0, 0, 0, 0});
}

TEST_CASE("python agents: agents leave one after the other, and the last observations are right") {
  auto request = world("zoo:Team", R"({"ends": {"ann": 2, "bob": 1, "cid": 3}, "cut": ["cid"]})");
  request.python.info = {"keys"};
  const auto envs = make_vector_environment(request, 1);
  envs->reset(7);
  auto after = envs->step(actions_of({{}}));
  CHECK(after.obs == floats{701, 701, 701, 701, 701, 701, 1, 0, 1});
  CHECK(after.agent_ended == bytes{0, 1, 0});
  CHECK_FALSE(after.terminated[0]);
  after = envs->step(actions_of({{}}));
  CHECK(after.obs == floats{702, 0, 0, 702, 702, 702, 0, 0, 1});
  CHECK(after.agent_ended == bytes{1, 0, 0});
  CHECK(after.agent_reward == doubles{2, 0, 12});
  after = envs->step(actions_of({{}}));
  CHECK(after.obs == floats{700, 700, 700, 700, 700, 700, 1, 1, 1});
  CHECK(after.agent_ended == bytes{0, 0, 2});
  CHECK(after.truncated[0]);
  CHECK_FALSE(after.terminated[0]);
  REQUIRE(after.finished.size() == 1);
  const auto& finished = after.finished[0];
  CHECK(finished.final_obs == floats{0, 0, 0, 703, 703, 703, 0, 0, 0});
  CHECK(finished.agent_returns == std::vector<double>{4, 0.75, 36});
  CHECK(finished.length == 3);
  // The means of the numbers 10, 20 and 30, and the success that bob told.
  CHECK(finished.info == episode_info{{"keys", 20}, {"is_success", 1}});
}

TEST_CASE("python agents: an agent that comes later") {
  const auto envs = make_vector_environment(world("zoo:Team", R"({"comes": {"cid": 1}})"), 1);
  CHECK(envs->reset(7).obs == floats{700, 700, 700, 0, 0, 0, 1, 1, 0});
  auto after = envs->step(actions_of({{}}));
  CHECK(after.obs == floats{701, 701, 701, 701, 701, 701, 1, 1, 1});
  CHECK(after.agent_reward == doubles{2, 0.75, 0});
  after = envs->step(actions_of({{}}));
  CHECK(after.agent_reward == doubles{2, 0.75, 12});
}

TEST_CASE("python agents: an agent that leaves without an end waits, and comes back") {
  const auto envs = make_vector_environment(world("zoo:Waits"), 1);
  envs->reset(7);
  auto after = envs->step(actions_of({{}}));
  CHECK(after.obs == floats{701, 701, 701, 0, 0, 0, 1, 1, 0});
  CHECK(after.agent_ended == bytes{0, 0, 0});
  after = envs->step(actions_of({{}}));
  CHECK(after.obs == floats{702, 702, 702, 702, 702, 702, 1, 1, 1});
  CHECK(after.agent_reward == doubles{2, 0.75, 0});
  after = envs->step(actions_of({{}}));
  CHECK(after.agent_ended == bytes{1, 1, 1});
  CHECK(after.terminated[0]);
  CHECK(after.failures.empty());
}

TEST_CASE("python agents: an agent that waits ends with the last ones, as they do") {
  const auto [options, ends] = GENERATE(
      table<const char*, bytes>({{"{}", bytes{1, 1, 1}}, {R"({"cut": ["bob"]})", bytes{1, 2, 2}}}));
  const auto envs = make_vector_environment(world("zoo:WaitsToTheEnd", options), 1);
  envs->reset(7);
  envs->step(actions_of({{}}));
  const auto after = envs->step(actions_of({{}}));
  CHECK(after.agent_ended == ends);
  CHECK(bool(after.truncated[0]) == (ends[1] == 2));
  CHECK(after.finished.size() == 1);
}

TEST_CASE("python agents: an agent that has ended comes back for another episode of its own") {
  auto request = world("zoo:Returns");
  const auto envs = make_vector_environment(request, 1);
  envs->reset(7);
  auto after = envs->step(actions_of({{}}));
  CHECK(after.agent_ended == bytes{0, 1, 0});
  CHECK(after.obs == floats{701, 701, 701, 701, 701, 701, 1, 0, 1});
  after = envs->step(actions_of({{}}));
  CHECK(after.obs == floats{702, 702, 702, 702, 702, 702, 1, 1, 1});
  CHECK(after.agent_ended == bytes{0, 0, 0});
  CHECK(envs->step(actions_of({{}})).agent_reward == doubles{2, 0.75, 12});
  after = envs->step(actions_of({{}}));
  CHECK(after.agent_ended == bytes{1, 1, 1});
  CHECK(after.finished.at(0).agent_returns == std::vector<double>{8, 2.25, 48});
  // A time limit cuts off the episode in which it is, too.
  request.wrappers.max_episode_steps = 3;
  const auto limited = make_vector_environment(request, 1);
  limited->reset(7);
  limited->step(actions_of({{}}));
  limited->step(actions_of({{}}));
  CHECK(limited->step(actions_of({{}})).agent_ended == bytes{2, 2, 2});
}

TEST_CASE("python agents: an agent in turn that has ended comes back") {
  const auto envs = make_vector_environment(world("zoo:Revives"), 1);
  envs->reset(7);
  CHECK(envs->step(actions_of({{}})).agent_ended == bytes{0, 1, 0});
  int turns_of_bob = 0;
  for (int i = 0; i < 6; ++i) {
    const auto after = envs->step(actions_of({{.ann = i % 2, .cid = {0, 1}}}));
    CHECK(after.failures.empty());
    const auto layout = agent_layout(envs->spec());
    turns_of_bob += layout.acts({after.obs.data(), after.obs.size()}, 1);
  }
  CHECK(turns_of_bob > 0);
}

TEST_CASE("python agents: masks in infos are masks, at once and in turn") {
  const auto masks_of = [](vector_environment& envs, std::span<const float> obs) {
    const auto masks = agent_layout(envs.spec()).masks().of(obs);
    return std::vector<float>(masks.begin(), masks.end());
  };
  using numbers = std::vector<float>;
  const auto envs = make_vector_environment(world("zoo:InfoMasks"), 2);
  CHECK(envs->spec().action_masks);
  const auto row = envs->reset(7).obs;
  CHECK(masks_of(*envs, {row.data(), row.size() / 2}) == numbers{0, 1, 1, 1, 0, 0, 1, 1});
  const auto after = envs->step(actions_of({{}, {.ann = 1}}));
  CHECK(masks_of(*envs, {after.obs.data(), row.size() / 2}) == numbers{1, 1, 0, 1, 0, 0, 1, 1});
  CHECK(masks_of(*envs, {after.obs.data() + row.size() / 2, row.size() / 2}) ==
        numbers{1, 0, 1, 1, 0, 0, 1, 1});
  const auto turns = make_vector_environment(world("zoo:ChessOfInfos"), 1);
  CHECK(turns->spec().action_masks);
  CHECK(masks_of(*turns, turns->reset(7).obs) == numbers{0, 1, 1, 1, 1, 1, 1, 1});
  CHECK(masks_of(*turns, turns->step(actions_of({{}})).obs) == numbers(8, 1));
  const auto none = make_vector_environment(world("zoo:AllForbiddenInInfo"), 1);
  CHECK_THROWS_WITH(none->reset(7), Contains("action_mask: expected a choice or more that is"));
}

TEST_CASE("python agents: masks in infos that come later than the first reset are told") {
  const testing::captured_stderr log;
  const auto envs = make_vector_environment(world("zoo:LateInfoMasks"), 1);
  CHECK_FALSE(envs->spec().action_masks);
  envs->reset(7);
  CHECK(envs->step(actions_of({{}})).failures.empty());
  CHECK_THAT(log.text(), Contains("of agents is not read, for the infos of the first reset had"));
}

TEST_CASE("python agents: a world whose agents have a common end has rows without flags") {
  const auto envs = make_vector_environment(world("zoo:Together"), 1);
  CHECK_FALSE(envs->spec().agents_vary);
  CHECK(envs->reset(7).obs == floats{700, 700, 700, 700, 700, 700});
  envs->step(actions_of({{}}));
  envs->step(actions_of({{}}));
  const auto after = envs->step(actions_of({{}}));
  CHECK(after.terminated[0]);
  CHECK(after.agent_ended == bytes{1, 1, 1});
  CHECK(after.finished.at(0).final_obs == floats{703, 703, 703, 703, 703, 703});
}

TEST_CASE("python agents: the global state, whose memory may be that of an observation") {
  const auto envs = make_vector_environment(world("zoo:Stateful"), 1);
  REQUIRE(envs->spec().state_space);
  CHECK(envs->spec().state_space->flat_size() == 2);
  CHECK(envs->reset(7).obs == floats{700, 700, 700, 700, 700, 700, 0, 0});
  CHECK(envs->step(actions_of({{}})).obs == floats{701, 701, 701, 701, 701, 701, -1, -1});
}

TEST_CASE("python agents: agents in turn, with masks, and the last steps of those that ended") {
  const auto envs = make_vector_environment(
      world("zoo:Chess", R"({"ends": {"bob": 3, "ann": 5, "cid": 5}, "cut": ["cid"]})"), 1);
  CHECK(envs->spec().action_masks);
  CHECK(envs->spec().agents_vary);
  const auto row = [](floats seen, floats active, floats mask) {
    seen.insert(seen.end(), active.begin(), active.end());
    seen.insert(seen.end(), mask.begin(), mask.end());
    return seen;
  };
  const floats all_allowed(8, 1.0F);
  // ann [1], bob [2], cid's place [2] and number [1]
  CHECK(envs->reset(7).obs == row({700, 700, 700, 1, 0, 0}, {1, 0, 0}, {0, 1, 1, 1, 1, 1, 1, 1}));
  auto after = envs->step(actions_of({{}}));
  CHECK(after.obs == row({701, 701, 701, 0, 1, 1}, {0, 1, 0}, all_allowed));
  CHECK(after.agent_reward == doubles{0, 2, 0});
  after = envs->step(actions_of({{}}));
  CHECK(after.obs == row({702, 702, 702, 1, 0, 2}, {0, 0, 1}, {1, 1, 1, 1, 0, 0, 1, 1}));
  CHECK(after.agent_reward == doubles{0, 0, 0.75});
  after = envs->step(actions_of({{.cid = {0, 2}}}));  // after it bob ends
  CHECK(after.obs == row({703, 703, 703, 0, 1, 3}, {1, 0, 0}, {1, 1, 0, 1, 1, 1, 1, 1}));
  CHECK(after.agent_reward == doubles{2, 0, 0});
  CHECK(after.agent_ended == bytes{0, 1, 0});
  after = envs->step(actions_of({{.ann = 1}}));  // bob is passed over
  CHECK(after.obs == row({704, 0, 0, 1, 0, 4}, {0, 0, 1}, {1, 1, 1, 1, 0, 0, 1, 1}));
  CHECK(after.agent_reward == doubles{0, 1, 0});
  after = envs->step(actions_of({{.cid = {0, 1}}}));
  CHECK(after.agent_ended == bytes{1, 0, 2});
  CHECK(after.truncated[0]);
  REQUIRE(after.finished.size() == 1);
  CHECK(after.finished[0].final_obs == row({705, 0, 0, 0, 1, 5}, {0, 0, 0}, all_allowed));
  CHECK(after.finished[0].agent_returns == std::vector<double>{3, 3, 0.75});
  CHECK(after.obs == row({700, 700, 700, 1, 0, 0}, {1, 0, 0}, {0, 1, 1, 1, 1, 1, 1, 1}));
}

TEST_CASE("python agents: each fault is told with its agent, and costs its episode alone") {
  const auto [name, expected] = GENERATE(table<const char*, const char*>({
      {"NaNReward", R"(agent "bob": reward: expected a finite number, got nan)"},
      {"InfiniteReward", R"(agent "cid": reward: expected a finite number, got inf)"},
      {"HugeReward",
       R"(agent "cid": reward: expected a number that a 32-bit float has (at most 3.4e+38), got 1000)"},
      {"Doubled", R"(agent "bob": agents: expected each agent once, got ['ann', 'bob', 'bob'])"},
      {"TextReward", R"(agent "cid": reward: expected a real number, got 'much')"},
      {"NoReward", R"(agent "bob": rewards: expected an entry of each agent that acted)"},
      {"OtherShape",
       R"(agent "bob": observation: expected an array of shape (2,), got shape (3,))"},
      {"NoObservation", R"(agent "cid": observations: expected an entry of each agent)"},
      {"Stays", R"(agent "cid": agents: expected no agent that ends with this step)"},
      {"Vanishes",
       R"(agent "ann": terminations: expected True there or in truncations, for `agents` is empty)"},
      {"Strange", R"(agent "dan": agents: expected one of possible_agents)"},
      {"OldForm", "step: expected (observations, rewards, terminations, truncations, infos)"},
      {"NoDict", "observations: expected a dict with the agents as its keys, got list"},
      {"EndsAlone", R"(agent "bob": terminations: expected an end of all agents at once)"},
  }));
  CAPTURE(name);
  const auto envs = make_vector_environment(world("zoo:" + std::string(name)), 2);
  envs->reset(1);
  envs->step(actions_of({{}, {}}));
  const auto after = envs->step(actions_of({{.ann = 1}, {}}));
  REQUIRE(after.failures.size() == 1);
  CHECK(after.failures[0].index == 0);
  CHECK_FALSE(after.failures[0].at_reset);
  CHECK_THAT(after.failures[0].message, StartsWith("zoo:" + std::string(name)));
  CHECK_THAT(after.failures[0].message, Contains(expected));
  CHECK(after.obs[0] == 100);
  CHECK(after.obs[after.obs.size() / 2] == 202);
  CHECK(after.agent_reward[0] == 0);
  CHECK(after.agent_reward[3] == 2);
  CHECK(envs->step(actions_of({{}, {}})).obs[0] == 101);
}

TEST_CASE("python agents: an error whose text is no UTF-8 costs its episode alone") {
  const auto envs = make_vector_environment(world("zoo:HalfCharacter"), 2);
  envs->reset(1);
  envs->step(actions_of({{}, {}}));
  const auto after = envs->step(actions_of({{.ann = 1}, {}}));
  REQUIRE(after.failures.size() == 1);
  CHECK_THAT(after.failures[0].message, Contains("ValueError: no file ?"));
  CHECK(after.agent_reward[3] == 2);
}

/// Takes steps until an episode fails, and returns the failure.
env_failure first_failure(vector_environment& envs) {
  envs.reset(1);
  for (int i = 0; i < 20; ++i) {
    auto after = envs.step(actions_of({{.ann = i % 2, .cid = {0, 1}}}));
    if (!after.failures.empty()) return after.failures[0];
  }
  FAIL("no episode failed");
  return {};
}

TEST_CASE("python agents: faults of worlds with turns, and of later episodes") {
  const auto [name, at_reset, expected] = GENERATE(table<const char*, bool, const char*>({
      {"Immortal", false, R"(agent "ann": step(None): expected an agent that leaves `agents`)"},
      {"Unpaid", false,
       R"(agent "ann": rewards: expected an entry of the agent that acted, got none)"},
      {"Stateless", false, "zoo:Stateless: state: expected a value of state_space, got None"},
      {"AllForbidden", false, R"(agent "cid": action_mask: expected a choice or more that is)"},
      {"Renamed", true, R"(agent "eve": possible_agents: expected one of possible_agents)"},
      {"Resized", true, R"(agent "ann": action space: expected the one that it had before)"},
  }));
  CAPTURE(name);
  const auto envs = make_vector_environment(world("zoo:" + std::string(name)), 1);
  const auto failure = first_failure(*envs);
  CHECK(failure.at_reset == at_reset);
  CHECK_THAT(failure.message, Contains(expected));
  const auto empty = make_vector_environment(world("zoo:Nobody"), 1);
  CHECK_THROWS_WITH(empty->reset(1), Contains("reset: expected an agent that acts, got agents []"));
}

TEST_CASE("python agents: what can't be used is told before anything runs") {
  const auto refuse = [](environment_request request, const char* expected) {
    CAPTURE(request.id);
    CHECK_THROWS_WITH(make_vector_environment(request, 1), Contains(expected));
  };
  refuse(world("zoo:NoAgents"), "expected possible_agents, a list of one agent or more, got []");
  refuse(world("zoo:Untold"), "expected possible_agents, a list of one agent or more, got none");
  refuse(world("zoo:Untold"), "every agent has to be known beforehand: where agents come and go");
  refuse(world("zoo:Unready"), "expected possible_agents, a list of one agent or more, got none");
  refuse(world("zoo:Twins"), R"(possible_agents with names of their own, got "ann" twice)");
  refuse(world("zoo:NoActions"), R"(agent "bob": expected an action space of a number or more)");
  refuse(world("zoo:Speaks"),
         R"(agent "bob": action space: expected a space without Text, got Text)");
  refuse(world("zoo:UnknownSpace"), R"(agent "cid": observation space: expected a space of kind)");
  refuse(world("zoo:ShortMask"), R"(agent "ann": expected an action_mask with a flag for each of)");
  auto request = world("zoo:Team");
  request.wrappers = {.frames = 2};
  refuse(request, "zoo:Team: env.frame_stack: expected 1, for it has 3 agents");
  request.wrappers = {.rescale_actions = true};
  refuse(request, "zoo:Team: env.rescale_action: expected false, for it has 3 agents");
  request = world("zoo:Team");
  request.python.wrappers = {"zoo.GymnasiumWrapper"};
  refuse(request, "env.wrappers: zoo.GymnasiumWrapper is a wrapper of Gymnasium, for one agent");
  refuse(world("pettingzoo:mpe2.simple_spread_v3"), "-m pip install 'pettingzoo'");
}

TEST_CASE("python agents: a time limit, wrappers, options and attributes") {
  auto request = world("zoo:Team", R"({"ends": {"ann": 1}})");
  request.wrappers = {.max_episode_steps = 2};
  request.python.wrappers = {"zoo.twice"};
  const auto envs = make_vector_environment(request, 1);
  envs->set_options(R"({"first": 0})");
  CHECK(envs->reset(7).obs[0] == 700);
  envs->set_attr("bonus", "5");
  auto after = envs->step(actions_of({{}}));
  CHECK(after.agent_reward == doubles{7, 1.5, 12});
  after = envs->step(actions_of({{}}));
  CHECK(after.truncated[0]);
  CHECK(after.agent_ended == bytes{0, 2, 2});
  CHECK(after.finished.at(0).agent_returns == std::vector<double>{7, 3, 24});

  request.python.wrappers = {"zoo.twice(name='ann')"};
  const auto ann = make_vector_environment(request, 1);
  ann->set_options(R"({"first": 0})");
  ann->reset(7);
  ann->set_attr("bonus", "5");
  CHECK(ann->step(actions_of({{}})).agent_reward == doubles{14, 0.75, 12});
  request.python.wrappers = {"zoo.twice(agent='ann')"};
  CHECK_THROWS_WITH(make_vector_environment(request, 1),
                    Contains("env.wrappers: zoo.twice takes ['name'], got 'agent'"));
}

TEST_CASE("python agents: a channel's messages reach the others, and not the world") {
  auto request = world("zoo:Team");
  request.wrappers.channel = channel_options{.words = 2, .numbers = 1};
  const auto envs = make_vector_environment(request, 2);
  envs->reset(7);
  // Behind the action of each agent: its word, and its number.
  const env_actions actions{.discrete = {2, 1, 0, 1, 2, 2, 1, 0, 0, 0, 1, 0},
                            .continuous = {-1, 0.5F, 0.25F, 0.125F, 1, 0, 0.5F, 0.25F, 0, 0}};
  const auto after = envs->step(actions);
  CHECK(after.failures.empty());
  CHECK(after.agent_reward == doubles{2, 0.75, 12, 1, 0.75, 1});
  const auto spec = envs->spec();
  const agent_layout layout(spec);
  const auto seen = [&](std::size_t env, std::size_t agent) {
    const auto row = std::span(after.obs).subspan(env * layout.obs_size(), layout.obs_size());
    const auto part = layout[agent].obs.of(row);
    return std::vector<float>(part.begin(), part.end());
  };
  CHECK(seen(0, 1) == std::vector<float>{701, 701, 1, 0, -1, 0, 1, 1});
  CHECK(seen(1, 1) == std::vector<float>{801, 801, 0, 0, 0, 0, 0, 0});
  request.wrappers = {.difference_rewards = true};
  CHECK_THROWS_WITH(make_vector_environment(request, 1),
                    Contains("difference_rewards: expected an environment that can be saved"));
}

TEST_CASE("python agents: one environment by itself") {
  const auto env = make_python_environment(world("zoo:Team"));
  std::vector<float> obs(env->spec().observation_space.flat_size());
  env->reset(7, obs);
  const std::vector<std::int64_t> integers{2, 1, 2};
  const std::vector<float> numbers{0.5F, 0.25F};
  const auto result = env->step({integers, numbers}, obs);
  CHECK(result.reward == 14.75 / 3);
  const auto steps = env->agent_steps();
  CHECK(std::vector(steps.begin(), steps.end()) == std::vector<agent_step>{{2}, {0.75}, {12}});
}

TEST_CASE("python agents: worlds are checked, with wrappers of this program and without") {
  const auto report = [](const char* id, std::int64_t limit) {
    auto request = world(id);
    if (limit > 0) request.wrappers.max_episode_steps = limit;
    return check_world(request, {.steps = 100, .seed = 1});
  };
  for (const auto* id : {"zoo:Team", "zoo:Stateful", "zoo:Chess"})
    for (const std::int64_t limit : {0, 4})
      CHECK_THAT(to_string(report(id, limit)), StartsWith(std::string(id) + ": no fault"));
  const auto broken = report("zoo:NaNReward", 0);
  REQUIRE(broken.faults().size() == 1);
  CHECK(broken.faults()[0].check == "agents");
  CHECK(broken.faults()[0].key == "bob");
  CHECK(broken.faults()[0].expected == "reward: a finite number");
}

// ---- with the real package; tests/worlds/pettingzoo_test.py runs it

template <class T>
std::vector<T> numbers_of_line(std::istream& in) {
  std::vector<T> numbers;
  for (std::string word; in >> word && word != "|";) numbers.push_back(T(std::stod(word)));
  return numbers;
}

/// Compares what an environment does with a record of what the package did, a line of
/// pettingzoo_reference.py each. Returns the episodes that ended.
std::size_t replay(const std::string& record) {
  std::unique_ptr<vector_environment> env;
  std::size_t episodes = 0, steps = 0;
  std::ifstream file(record);
  REQUIRE(file.is_open());
  for (std::string line; std::getline(file, line);) {
    CAPTURE(steps, line);
    std::istringstream in(line.substr(1));
    if (line[0] == 'E') {
      std::string id, options;
      std::uint64_t seed = 0;
      in >> seed >> id;
      std::getline(in, options);
      env = make_vector_environment(
          {.id = id,
           .options = options,
           .python = {.interpreter = std::getenv("TROUPE_PETTINGZOO_PYTHON")}},
          1);
      const auto begun = env->reset(seed);
      REQUIRE(std::getline(file, line));
      std::istringstream first(line.substr(1));
      REQUIRE(std::vector(begun.obs.begin(), begun.obs.end()) == numbers_of_line<float>(first));
      steps = 0;
      continue;
    }
    ++steps;
    const auto integers = numbers_of_line<std::int64_t>(in);
    const auto continuous = numbers_of_line<float>(in);
    const auto rewards = numbers_of_line<double>(in);
    const auto ends = numbers_of_line<std::uint8_t>(in);
    const auto obs = numbers_of_line<float>(in), final_obs = numbers_of_line<float>(in);
    const auto after = env->step({.discrete = {integers.begin(), integers.end()},
                                  .continuous = {continuous.begin(), continuous.end()}});
    REQUIRE(after.failures.empty());
    REQUIRE(after.agent_reward == doubles(rewards.begin(), rewards.end()));
    REQUIRE(after.agent_ended == bytes(ends.begin(), ends.end()));
    REQUIRE(after.obs == floats(obs.begin(), obs.end()));
    REQUIRE(after.finished.size() == (final_obs.empty() ? 0 : 1));
    if (final_obs.empty()) continue;
    REQUIRE(after.finished[0].final_obs == floats(final_obs.begin(), final_obs.end()));
    ++episodes;
  }
  return episodes;
}

TEST_CASE("python agents: a reset that takes too long in a step is told") {
  auto request = world("zoo:Stuck");
  request.python.reset_timeout = 2;
  const auto envs = make_vector_environment(request, 1);
  envs->reset(1);
  envs->step(actions_of({{}}));
  envs->step(actions_of({{}}));
  CHECK_THROWS_WITH(envs->step(actions_of({{}})), Contains("a reset took longer than 2 s"));
}

TEST_CASE("pettingzoo: environments in Python do what they do by the package", "[.pettingzoo]") {
  CHECK(replay(std::getenv("TROUPE_PETTINGZOO_RECORD")) >= 100);
}

TEST_CASE("pettingzoo: environments of the package have no fault", "[.pettingzoo]") {
  for (const std::string id :
       {"pettingzoo:mpe2.simple_spread_v3", "pettingzoo:mpe2.simple_spread_v3:env",
        "pettingzoo:pettingzoo.classic.tictactoe_v3"}) {
    environment_request request{.id = id,
                                .python = {.interpreter = std::getenv("TROUPE_PETTINGZOO_PYTHON")}};
    CHECK_THAT(to_string(check_world(request, {.steps = 300})), StartsWith(id + ": no fault"));
  }
}

TEST_CASE("pettingzoo: names of modules that are not there are told", "[.pettingzoo]") {
  const auto refuse = [](const std::string& id, const char* expected) {
    CHECK_THROWS_WITH(
        make_vector_environment(
            {.id = id, .python = {.interpreter = std::getenv("TROUPE_PETTINGZOO_PYTHON")}}, 1),
        Contains(expected));
  };
  refuse("pettingzoo:mpe2.simple_sprad_v3", "did you mean 'simple_spread_v3'?");
  refuse("pettingzoo:mpe3.simple_spread_v3", "-m pip install 'mpe3'");
  refuse("pettingzoo:mpe2.simple_spread_v3:parallel", "has no 'parallel'");
  refuse("pettingzoo:json", "expected a function parallel_env or env or raw_env in json");
  refuse("pettingzoo:", "expected pettingzoo:MODULE");
}

}  // namespace
}  // namespace troupe

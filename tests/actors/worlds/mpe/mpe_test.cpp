// The physics of the particle environments on cases that are worked out by hand, and what the
// environments have in common. package_test.cpp compares them with the package mpe2.

#include <array>
#include <cmath>
#include <numbers>

#include "actors/environments/vector_env.hpp"
#include "actors/worlds/mpe/simple_adversary.hpp"
#include "actors/worlds/mpe/simple_push.hpp"
#include "actors/worlds/mpe/simple_reference.hpp"
#include "actors/worlds/mpe/simple_speaker_listener.hpp"
#include "actors/worlds/mpe/simple_spread.hpp"
#include "actors/worlds/mpe/simple_tag.hpp"
#include "actors/worlds/registry.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;

const std::vector<std::string> worlds{"simple_adversary_v3",        "simple_push_v3",
                                      "simple_reference_v3",        "simple_spread_v3",
                                      "simple_speaker_listener_v4", "simple_tag_v3"};

particle ball(vec2 position, vec2 velocity = {}) {
  return {.radius = 0.15,
          .movable = true,
          .collides = true,
          .position = position,
          .velocity = velocity};
}

TEST_CASE("mpe: a particle moves by its old velocity, slows down and is pushed", "[env]") {
  std::array one{ball({0.5, -0.5}, {1, -2})};
  std::array<vec2, 1> forces{{{5, 0}}};
  step_particles(one, forces);
  CHECK(one[0].position.x == Approx(0.6));
  CHECK(one[0].position.y == Approx(-0.7));
  CHECK(one[0].velocity.x == Approx(0.75 + 0.5));
  CHECK(one[0].velocity.y == Approx(-1.5));
}

TEST_CASE("mpe: particles that just touch repel each other by 100 k log 2", "[env]") {
  std::array two{ball({-0.15, 0}), ball({0.15, 0})};
  std::array<vec2, 2> forces{};
  step_particles(two, forces);
  CHECK(forces[0].x == Approx(-100 * 0.001 * std::numbers::ln2));
  CHECK(forces[1].x == -forces[0].x);
  CHECK(forces[0].y == 0);
  CHECK(two[0].position == vec2{-0.15, 0});  // it had no velocity yet
  CHECK(two[0].velocity.x == forces[0].x * 0.1);
}

TEST_CASE("mpe: overlapping particles repel by the depth, and distant ones not at all", "[env]") {
  std::array two{ball({0, 0}), ball({0, 0.2})};
  std::array<vec2, 2> forces{};
  step_particles(two, forces);
  CHECK(forces[0].y == Approx(-100 * 0.1));  // softplus of 100 is 100
  two = {ball({0, 0}), ball({0, 1.0})};
  forces = {};
  step_particles(two, forces);
  CHECK(forces[0].y < 0);
  CHECK(forces[0].y > -1e-300);
  two = {ball({0, 0}), ball({0, 1.06})};
  forces = {};
  step_particles(two, forces);
  CHECK(forces[0].y == 0);
  two = {ball({0, 0}), ball({0, 0})};
  forces = {};
  step_particles(two, forces);
  CHECK(two[0].velocity == vec2{});
}

TEST_CASE("mpe: a landmark blocks the way of an agent and stays where it is", "[env]") {
  particle rock{.radius = 0.2, .collides = true};
  std::array both{ball({0.3, 0}), rock};
  std::array<vec2, 1> forces{{{-3, 0}}};
  step_particles(both, forces);
  CHECK(forces[0].x == Approx(-3 + 100 * 0.05));
  CHECK(both[1].position == vec2{});
  CHECK(both[1].velocity == vec2{});
}

TEST_CASE("mpe: a speed is cut to its limit and keeps its direction", "[env]") {
  std::array one{ball({}, {4, 3})};
  one[0].max_speed = 1.3;
  std::array<vec2, 1> forces{};
  step_particles(one, forces);
  CHECK(length(one[0].velocity) == Approx(1.3));
  CHECK(one[0].velocity.x / one[0].velocity.y == Approx(4.0 / 3));
}

/// An environment by itself, with its observation and the rewards of its agents.
template <class Env>
struct played {
  explicit played(Env made, std::uint64_t seed = 42)
      : env(std::move(made)), obs(env.spec().observation_space.flat_size()) {
    env.reset(seed, obs);
  }
  step_result step(std::vector<std::int64_t> choices) {
    return env.step(action_view(std::span<const std::int64_t>(choices)), obs);
  }
  step_result step(std::vector<float> numbers) {
    return env.step(action_view(std::span<const float>(numbers)), obs);
  }
  double reward_of(std::size_t i) const { return env.agent_steps()[i].reward; }

  Env env;
  std::vector<float> obs;
};

TEST_CASE("mpe: simple_spread with seed 42 is that of mpe2", "[env]") {
  played one(simple_spread{});
  const std::vector<float> first{0,
                                 0,
                                 0.5479121F,
                                 -0.12224312F,
                                 -0.025632693F,
                                 0.69437176F,
                                 -1.2916849F,
                                 0.023014996F,
                                 -0.8063161F,
                                 0.9757731F,
                                 0.16928375F,
                                 0.51697916F,
                                 -1.3595574F,
                                 1.0734879F,
                                 0,
                                 0,
                                 0,
                                 0};
  CHECK(std::vector<float>(one.obs.begin(), one.obs.begin() + 18) == first);
  std::array<double, 3> sums{};
  for (std::int64_t t = 0; t < 25; ++t) {
    one.step(std::vector<std::int64_t>{t % 5, (t + 1) % 5, (t + 2) % 5});
    for (std::size_t i = 0; i < 3; ++i) sums[i] += one.reward_of(i);
    if (t == 0) CHECK(one.reward_of(0) == Approx(-0.9390106311653426).epsilon(1e-13));
    if (t == 1) CHECK(one.reward_of(1) == Approx(-0.8961629985096269).epsilon(1e-13));
    if (t == 2) CHECK(one.reward_of(2) == Approx(-0.8530055943691991).epsilon(1e-13));
    if (t == 24) CHECK(one.reward_of(0) == Approx(-0.8401720335754563).epsilon(1e-13));
  }
  for (const double sum : sums) CHECK(sum == Approx(-21.280857406351267).epsilon(1e-13));
}

TEST_CASE("mpe: the reward of simple_spread mixes what is shared with own collisions", "[env]") {
  simple_spread_options own, shared;
  own.local_ratio = 1;
  shared.local_ratio = 0;
  played alone(simple_spread{own}), together(simple_spread{shared}), mixed(simple_spread{});
  numpy_random random(1);
  int collisions = 0;
  for (int t = 0; t < 400; ++t) {
    if (t % 25 == 0) {
      alone.env.reset(t, alone.obs);
      together.env.reset(t, together.obs);
      mixed.env.reset(t, mixed.obs);
    }
    const std::vector<std::int64_t> choices{random.integers(0, 5), random.integers(0, 5),
                                            random.integers(0, 5)};
    alone.step(choices);
    together.step(choices);
    const auto result = mixed.step(choices);
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      collisions += alone.reward_of(i) < 0;
      CHECK(alone.reward_of(i) == std::round(alone.reward_of(i)));
      CHECK(together.reward_of(i) == together.reward_of(0));
      CHECK(mixed.reward_of(i) == Approx(0.5 * alone.reward_of(i) + 0.5 * together.reward_of(i)));
      sum += mixed.reward_of(i);
    }
    CHECK(result.reward == Approx(sum / 3));
  }
  CHECK(collisions > 10);
}

TEST_CASE("mpe: an action moves the agent in its direction, chosen or continuous", "[env]") {
  mpe_options continuous{.continuous_actions = true};
  for (const std::int64_t choice : {0, 1, 2, 3, 4}) {
    played one(simple_push{}), other(simple_push{continuous});
    const std::array<vec2, 5> expected{{{0, 0}, {-0.5, 0}, {0.5, 0}, {0, -0.5}, {0, 0.5}}};
    one.step(std::vector<std::int64_t>{0, choice});
    std::vector<float> numbers(10);
    numbers[5 + std::size_t(choice)] = 1;
    other.step(numbers);
    CHECK(one.env.agents()[1].velocity == expected[std::size_t(choice)]);
    CHECK(one.obs == other.obs);
  }
}

TEST_CASE("mpe: a word is heard by the other agent in the next observation", "[env]") {
  played pair(simple_speaker_listener{});
  const auto heard = [&] {
    return std::vector<float>(pair.obs.begin() + 11, pair.obs.begin() + 14);
  };
  CHECK(heard() == std::vector<float>{0, 0, 0});
  pair.step(std::vector<std::int64_t>{2, 0});
  CHECK(heard() == std::vector<float>{0, 0, 1});
  pair.step(std::vector<std::int64_t>{0, 0});
  CHECK(heard() == std::vector<float>{1, 0, 0});
  const auto& goal = pair.env.landmarks()[pair.env.goals()[0]];
  CHECK(std::vector<float>(pair.obs.begin(), pair.obs.begin() + 3) ==
        std::vector<float>(goal.colour.begin(), goal.colour.end()));
  CHECK(pair.reward_of(0) == -squared_length(pair.env.agents()[1].position - goal.position));
  CHECK(pair.reward_of(1) == pair.reward_of(0));

  played both(simple_reference{});
  both.step(std::vector<std::int64_t>{1 + 5 * 9, 4});  // left and the last word; up and the first
  CHECK(both.env.agents()[0].velocity == vec2{-0.5, 0});
  CHECK(both.env.agents()[1].velocity == vec2{0, 0.5});
  CHECK(both.obs[11] == 1);       // agent_0 hears the first word
  CHECK(both.obs[21 + 20] == 1);  // agent_1 hears the last one
}

TEST_CASE("mpe: the state is all observations, and options make other worlds", "[env]") {
  for (const auto& [id, options, agents, limit] :
       std::vector<std::tuple<std::string, std::string, std::size_t, std::int64_t>>{
           {"simple_spread_v3", R"({"N":5,"max_cycles":40})", 5, 40},
           {"simple_tag_v3", R"({"num_good":2,"num_adversaries":4,"num_obstacles":0})", 6, 25},
           {"simple_adversary_v3", R"({"N":1})", 2, 25},
           {"simple_reference_v3", R"({"local_ratio":0.1})", 2, 25},
           {"simple_push_v3", R"({"continuous_actions":true})", 2, 25}}) {
    const auto spec = make_vector_environment({.id = id, .options = options}, 1)->spec();
    CHECK(spec.id == id);
    CHECK(spec.agents.size() == agents);
    CHECK(spec.max_episode_steps == limit);
    CHECK(spec.observation_space.flat_size() == 2 * spec.state_space->flat_size());
    CHECK_FALSE(spec.reward_threshold);
  }
}

TEST_CASE("mpe: options that are none are refused with their names", "[env]") {
  const auto make = [](const std::string& id, const std::string& options) {
    return make_vector_environment({.id = id, .options = options}, 1);
  };
  CHECK_THROWS_WITH(make("simple_spread_v3", R"({"N":0})"),
                    Contains("env.options/N") && Contains("got 0"));
  CHECK_THROWS_WITH(make("simple_spread_v3", R"({"local_ratio":1.5})"),
                    Contains("env.options/local_ratio") && Contains("got 1.5"));
  CHECK_THROWS_WITH(make("simple_tag_v3", R"({"N":2})"), Contains("env.options"));
  CHECK_THROWS_WITH(make("simple_push_v3", R"({"max_cycles":0})"), Contains("max_cycles"));
  simple_tag_options none;
  none.good_agents = 0;
  CHECK_THROWS_WITH(simple_tag(none), Contains("simple_tag_v3/num_good"));
}

TEST_CASE("mpe: a choice that an agent doesn't have is refused with its name", "[env]") {
  played one(simple_speaker_listener{});
  CHECK_THROWS_WITH(one.step(std::vector<std::int64_t>{3, 0}),
                    "simple_speaker_listener_v4: speaker_0: expected an action of 0 to 2, got 3");
  CHECK_THROWS_WITH(one.step(std::vector<std::int64_t>{0, -1}),
                    "simple_speaker_listener_v4: listener_0: expected an action of 0 to 4, got -1");
}

/// Choices that change from step to step, for two environments of `spec` side by side.
env_actions actions_at(const env_spec& spec, int t) {
  env_actions actions;
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t i = 0; i < spec.agents.size(); ++i) {
      const auto& own = spec.agents[i].action_space;
      const auto turn = t / 3 + static_cast<int>(i + 2 * row);
      if (const auto* choices = own.get_if<spaces::discrete>())
        actions.discrete.push_back(turn % choices->n);
      if (const auto* box = own.get_if<spaces::box>())
        for (std::size_t a = 0; a < box->low.size(); ++a)
          actions.continuous.push_back(static_cast<float>((turn + static_cast<int>(a)) % 4) / 3);
    }
  }
  return actions;
}

TEST_CASE("mpe: the same seed gives the same episodes, and a save goes on bit for bit", "[env]") {
  const auto& id = GENERATE(from_range(worlds));
  const std::string options = GENERATE("{}", R"({"continuous_actions":true})");
  INFO(id << ' ' << options);
  const environment_request request{.id = id, .options = options};
  auto one = make_vector_environment(request, 2), same = make_vector_environment(request, 2);
  auto other = make_vector_environment(request, 2);
  const auto spec = one->spec();
  CHECK(one->reset(7).obs == same->reset(7).obs);
  CHECK(other->reset(8).obs != same->reset(7).obs);
  for (int t = 0; t < 40; ++t)
    REQUIRE(one->step(actions_at(spec, t)).obs == same->step(actions_at(spec, t)).obs);
  other->restore(*one->save());
  for (int t = 40; t < 120; ++t) {  // over the ends of episodes
    const auto a = one->step(actions_at(spec, t)), b = other->step(actions_at(spec, t));
    REQUIRE(a.obs == b.obs);
    REQUIRE(a.agent_reward == b.agent_reward);
    REQUIRE(a.truncated == b.truncated);
  }
}

TEST_CASE("mpe: a saved state of another world, or of a goal that isn't there, is refused",
          "[env]") {
  played push(simple_push{});
  played tag(simple_tag{});
  state_writer saved;
  REQUIRE(push.env.save(saved));
  CHECK_THROWS_AS(tag.env.restore(state_reader(saved.bytes())), state_error);
  state_writer damaged;
  std::vector<double> numbers(13);  // two agents, two landmarks and the goal
  numbers.back() = 2;
  damaged.put("state", numbers);
  CHECK_THROWS_WITH(push.env.restore(state_reader(damaged.bytes())),
                    "simple_push_v3: expected goals of 0 to 1, got 2");
}

}  // namespace
}  // namespace troupe

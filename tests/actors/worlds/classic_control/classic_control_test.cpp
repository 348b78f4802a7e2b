// Acrobot, the two mountain cars and Pendulum: equal to Gymnasium with NumPy 2, bit for bit.

#include <bit>
#include <fstream>
#include <sstream>

#include "actors/environments/vector_env.hpp"
#include "actors/worlds/classic_control/acrobot.hpp"
#include "actors/worlds/classic_control/mountain_car.hpp"
#include "actors/worlds/classic_control/mountain_car_continuous.hpp"
#include "actors/worlds/classic_control/numpy_power.hpp"
#include "actors/worlds/classic_control/pendulum.hpp"
#include "actors/worlds/registry.hpp"
#include "tests/actors/worlds/classic_control/trajectory.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

std::string read_fixture(const std::string& name) {
  std::ifstream file(testing::source_path("tests/fixtures/gymnasium/") + name);
  REQUIRE(file.is_open());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_CASE("classic control: 2,000 random steps of each equal Gymnasium's bit for bit", "[env]") {
  const auto [name, id, resets, terminated, truncated] =
      GENERATE(table<std::string, std::string, int, int, int>(
          {{"acrobot", "Acrobot-v1", 5, 1, 3},
           {"mountain_car", "MountainCar-v0", 11, 0, 10},
           {"mountain_car_continuous", "MountainCarContinuous-v0", 3, 0, 2},
           {"pendulum", "Pendulum-v1", 11, 0, 10}}));
  std::istringstream record(read_fixture(name + "_random.txt"));
  const auto reports = replay_trajectories(record, 5);
  REQUIRE(reports.size() == 1);
  const auto& report = reports.at(id);
  INFO(id << ": " << report.first_mismatch);
  CHECK(report.steps == 2000);
  CHECK(report.resets == resets);
  CHECK(report.terminated == terminated);
  CHECK(report.truncated == truncated);
  CHECK(report.mismatches == 0);
}

TEST_CASE("classic control: one flipped bit in a recorded reward is noticed", "[env]") {
  auto record = read_fixture("pendulum_random.txt");
  const auto at = record.find("c00db0121234a913");  // the first step's reward
  REQUIRE(at != std::string::npos);
  record[at + 15] = '2';
  std::istringstream changed(record);
  const auto report = replay_trajectories(changed, 5).at("Pendulum-v1");
  CHECK(report.mismatches > 0);
  CHECK(report.first_mismatch.substr(0, 10) == "reward at:");
}

struct script_end {
  int steps = 0;
  double sum = 0;
  std::vector<std::uint32_t> obs_bits;
  std::vector<double> state;
};

// Runs actions after a reset with seed 42 until the episode ends.
template <class Env, class Choose>
script_end run_script(Choose choose) {
  Env env;
  const auto spec = env.spec();
  std::vector<float> obs(spec.observation_space.flat_size());
  script_end end;
  env.reset(42, obs);
  bool terminated = false;
  while (!terminated && end.steps < spec.max_episode_steps) {
    const auto action = choose(end.steps++);
    const auto result = env.step(action_view(std::span(&action, 1)), obs);
    end.sum += result.reward;
    terminated = result.terminated;
  }
  for (const float value : obs) end.obs_bits.push_back(std::bit_cast<std::uint32_t>(value));
  end.state.assign(env.state().begin(), env.state().end());
  return end;
}

template <class Env, class Action>
void check_script(int period, std::vector<Action> cycle, const script_end& expected) {
  const auto end = run_script<Env>(
      [&](int t) { return cycle[static_cast<std::size_t>(t / period) % cycle.size()]; });
  CHECK(end.steps == expected.steps);
  CHECK(end.sum == expected.sum);
  CHECK(end.obs_bits == expected.obs_bits);
  CHECK(end.state == expected.state);
}

using whole = std::vector<std::int64_t>;
using floats = std::vector<float>;

TEST_CASE("classic control: fixed actions from seed 42 end as Gymnasium's", "[env]") {
  check_script<acrobot>(
      5, whole{0, 1, 2},
      {500,
       -500.0,
       {0x3f7775b0, 0x3e8324e1, 0x3f76307f, 0xbe8c61bc, 0xbe682592, 0x3f45208d},
       {0.25902761156019516, -0.27774021673732385, -0.2267058143033343, 0.770027913477826}});
  check_script<acrobot>(
      7, whole{0, 2},
      {500,
       -500.0,
       {0x3f60e140, 0xbef4a9d2, 0x3f76eabc, 0x3e872ca6, 0xbf34a3d5, 0x400393ca},
       {-0.4982148259642554, 0.2671799552494228, -0.7056248747753551, 2.0558952100794086}});
  check_script<mountain_car>(
      20, whole{2, 0},
      {200, -200.0, {0xbf342348, 0xbc3ba59d}, {-0.703663374720725, -0.011453059604740249}});
  check_script<mountain_car_continuous>(25, floats{0.7F, -0.9F},
                                        {999,
                                         -64.91899702405966,
                                         {0xbf591084, 0xbcdb14d3},
                                         {-0.8479082584381104, -0.02674332819879055}});
  check_script<mountain_car_continuous>(
      40, floats{1.5F, -1.5F},
      {112, 74.79999999999997, {0x3f023e78, 0x3d7f7e8c}, {0.508765697479248, 0.06237654387950897}});
  check_script<pendulum>(10, floats{1.3F, -0.7F},
                         {200,
                          -1190.3222795431527,
                          {0xbec3017c, 0x3f6cb471, 0x40142acc},
                          {1.961534120665841, 2.315112058951336}});
  check_script<pendulum>(
      1, floats{3.0F},
      {200, -1634.744160019487, {0xbf7f659a, 0x3d8c7f80, 0x41000000}, {72.18797454802483, 8.0}});
}

TEST_CASE("classic control: a square is the C library's pow, not always the product", "[env]") {
  numpy_random random(4);
  int differ = 0, products = 0;
  for (int i = 0; i < 300'000; ++i) {
    const double x = random.uniform(-40, 40);
    const double square = detail::library_power_2(x);
    differ += detail::power_2(x) != square;
    products += x * x == square;
  }
  for (const double x : {0.0, 1e-200, 1e-150, 1.0, -2.0})
    differ += detail::power_2(x) != detail::library_power_2(x);
  CHECK(differ == 0);
  CHECK(products < 300'000);
}

TEST_CASE("classic control: spaces, limits and thresholds are Gymnasium's", "[env]") {
  const auto check = [](const std::string& id, const std::string& observations,
                        const std::string& actions, std::int64_t limit,
                        std::optional<double> threshold) {
    const auto spec = make_vector_environment(id, 1)->spec();
    CHECK(spec.id == id);
    CHECK(to_string(spec.observation_space) == observations);
    CHECK(to_string(spec.action_space) == actions);
    CHECK(spec.max_episode_steps == limit);
    CHECK(spec.reward_threshold == threshold);
  };
  check("Acrobot-v1",
        "Box([-1.0 -1.0 -1.0 -1.0 -12.566371 -28.274334], [1.0 1.0 1.0 1.0 12.566371 28.274334], "
        "(6,), float32)",
        "Discrete(3)", 500, -100.0);
  const std::string valley = "Box([-1.2 -0.07], [0.6 0.07], (2,), float32)";
  check("MountainCar-v0", valley, "Discrete(3)", 200, -110.0);
  check("MountainCarContinuous-v0", valley, "Box(-1.0, 1.0, (1,), float32)", 999, 90.0);
  check("Pendulum-v1", "Box([-1.0 -1.0 -8.0], [1.0 1.0 8.0], (3,), float32)",
        "Box(-2.0, 2.0, (1,), float32)", 200, std::nullopt);
}

TEST_CASE("classic control: an action that is none is refused with its value", "[env]") {
  acrobot swing;
  mountain_car car;
  floats obs(6);
  swing.reset(1, obs);
  car.reset(1, obs);
  const std::int64_t three = 3, minus = -1;
  CHECK_THROWS_WITH(swing.step(action_view(three), obs),
                    "Acrobot: expected action 0, 1 or 2, got 3");
  CHECK_THROWS_WITH(car.step(action_view(minus), obs),
                    "MountainCar: expected action 0, 1 or 2, got -1");
}

TEST_CASE("classic control: a vector environment clips a force before it costs", "[env]") {
  vector_env<mountain_car_continuous> clipping(1), at_bound(1);
  clipping.reset(3);
  at_bound.reset(3);
  const auto one = clipping.step({.discrete = {}, .continuous = {7.0F}});
  const auto other = at_bound.step({.discrete = {}, .continuous = {1.0F}});
  CHECK(one.obs == other.obs);
  CHECK(one.reward == std::vector<double>{-0.1});
}

TEST_CASE("classic control: the car at the left wall stops", "[env]") {
  mountain_car car;
  floats obs(2);
  car.reset(1, obs);
  const std::int64_t left = 0, right = 2;
  bool at_wall = false;
  for (int t = 0; t < 500 && !at_wall; ++t) {  // swings with its own velocity until it hits
    const bool swing_left = car.state()[1] < 0 || car.state()[0] > 0.4;
    car.step(action_view(swing_left ? left : right), obs);
    at_wall = car.state()[0] == -1.2;
  }
  CHECK(at_wall);
  CHECK(car.state()[1] == 0.0);
}

TEST_CASE("classic control: options change what they say", "[env]") {
  floats obs(6);
  pendulum heavy({.gravity = 20}), usual;
  heavy.reset(1, obs);
  usual.reset(1, obs);
  const float none = 0;
  const double start = usual.state()[1], sine = std::sin(usual.state()[0]);
  heavy.step(action_view(std::span(&none, 1)), obs);
  usual.step(action_view(std::span(&none, 1)), obs);
  CHECK(heavy.state()[1] - start == Approx(30 * sine * 0.05));
  CHECK(usual.state()[1] - start == Approx(15 * sine * 0.05));

  acrobot book, paper({.paper_dynamics = true});
  book.reset(1, obs);
  paper.reset(1, obs);
  const std::int64_t push = 2;
  book.step(action_view(push), obs);
  paper.step(action_view(push), obs);
  CHECK(book.state() != paper.state());

  // As fast as it may go, and still too slow for this goal.
  mountain_car_continuous never({.goal_velocity = 0.08}), plain;
  never.reset(42, obs);
  plain.reset(42, obs);
  bool never_ended = true, plain_ended = false;
  for (int t = 0; t < 112; ++t) {
    const float force = t / 40 % 2 == 0 ? 1.5F : -1.5F;
    never_ended &= !never.step(action_view(std::span(&force, 1)), obs).terminated;
    plain_ended |= plain.step(action_view(std::span(&force, 1)), obs).terminated;
  }
  CHECK(never_ended);
  CHECK(plain_ended);
}

TEST_CASE("classic control: saved in the middle of an episode they go on bit for bit", "[env]") {
  const auto id =
      GENERATE("Acrobot-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1");
  auto one = make_vector_environment(id, 2);
  auto other = make_vector_environment(id, 2);
  const auto actions = [](int t) {
    const auto choice = static_cast<std::int64_t>(t / 3 % 3);
    const auto force = static_cast<float>(t % 7) / 3 - 1;
    return env_actions{.discrete = {choice, 2 - choice}, .continuous = {force, -force}};
  };
  one->reset(7);
  for (int t = 0; t < 50; ++t) one->step(actions(t));
  other->restore(*one->save());
  for (int t = 50; t < 600; ++t) {  // over the end of an episode
    const auto a = one->step(actions(t));
    const auto b = other->step(actions(t));
    REQUIRE(a.obs == b.obs);
    REQUIRE(a.reward == b.reward);
    REQUIRE(a.truncated == b.truncated);
  }
}

}  // namespace
}  // namespace troupe

// Gymnasium's landers fly on Box2D 2.3, ours on 2.4: they agree nearly for a while, and in
// distribution for good.

#include "actors/worlds/box2d/lunar_lander.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "actors/worlds/registry.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using observation = std::array<float, 8>;

/// What lunar_lander_reference.py has printed of a case, without its name.
std::istringstream reference(const std::string& name) {
  std::ifstream file(testing::source_path("tests/fixtures/gymnasium/lunar_lander.txt"));
  REQUIRE(file.is_open());
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name + ' ')) return std::istringstream(line.substr(name.size()));
  FAIL("no such case: " << name);
  return {};
}

struct wanted_thrust {
  double lift, turn;
};

/// A controller of height and of angle, the reference's.
wanted_thrust fly_down(const observation& obs) {
  const double x = obs[0], y = obs[1], x_speed = obs[2], y_speed = obs[3];
  if (obs[6] > 0 || obs[7] > 0) return {-0.5 * y_speed, 0};
  const double angle = std::clamp(0.5 * x + x_speed, -0.4, 0.4);
  return {0.5 * (0.55 * std::abs(x) - y) - 0.5 * y_speed, 0.5 * (angle - obs[4]) - obs[5]};
}

struct action {
  std::int64_t choice = 0;
  std::array<float, 2> throttles{};
};

action pilot(const observation& obs) {
  const auto [lift, turn] = fly_down(obs);
  action chosen;
  if (lift > std::max(std::abs(turn), 0.05))
    chosen.choice = 2;
  else if (std::abs(turn) > 0.05)
    chosen.choice = turn < 0 ? 3 : 1;
  chosen.throttles = {static_cast<float>(std::clamp(20 * lift - 1, -1.0, 1.0)),
                      static_cast<float>(std::clamp(-20 * turn, -1.0, 1.0))};
  return chosen;
}

action random_action(numpy_random& random) {
  action chosen{.choice = random.integers(0, 4)};
  for (auto& throttle : chosen.throttles) throttle = static_cast<float>(random.uniform(-1, 1));
  return chosen;
}

step_result fly(lunar_lander& lander, bool continuous, const action& chosen, observation& obs) {
  return continuous ? lander.step(action_view(std::span<const float>(chosen.throttles)), obs)
                    : lander.step(action_view(chosen.choice), obs);
}

struct sample {
  double sum = 0, squares = 0, count = 0;

  void add(double value) {
    sum += value;
    squares += value * value;
    ++count;
  }
  double mean() const { return sum / count; }
  double squared_error() const { return (squares / count - mean() * mean()) / (count - 1); }
};

/// Flies 200 episodes, and compares the means of return and length with the reference's.
void check_flights(bool continuous, bool wind, bool by_pilot) {
  constexpr std::uint64_t episodes = 200;
  const auto name = std::string(continuous ? "LunarLanderContinuous-v3" : "LunarLander-v3") +
                    (wind ? " 1 " : " 0 ") + (by_pilot ? "pilot" : "random");
  auto recorded = reference(name);

  lunar_lander lander({.continuous = continuous, .enable_wind = wind});
  numpy_random random(2);
  sample returns, lengths;
  observation obs;
  for (std::uint64_t seed = 0; seed < episodes; ++seed) {
    lander.reset(seed, obs);
    double sum = 0;
    int length = 0;
    for (bool ended = false; !ended && length < 1000; ++length) {
      const auto result =
          fly(lander, continuous, by_pilot ? pilot(obs) : random_action(random), obs);
      sum += result.reward;
      ended = result.terminated;
    }
    returns.add(sum);
    lengths.add(length);
  }

  double count = 0;
  recorded >> count;
  REQUIRE(count >= 200);
  for (const auto* ours : {&returns, &lengths}) {
    double mean = 0, deviation = 0;
    REQUIRE(recorded >> mean >> deviation);
    const double error = std::sqrt(ours->squared_error() + deviation * deviation / count);
    INFO(name << (ours == &returns ? " return" : " length") << ": " << ours->mean() << " and "
              << mean << ", " << (ours->mean() - mean) / error << " standard errors");
    CHECK(std::abs(ours->mean() - mean) < 3 * error);
  }
}

TEST_CASE("lunar lander: returns and lengths are Gymnasium's within three standard errors",
          "[env]") {
  const bool continuous = GENERATE(false, true);
  check_flights(continuous, false, false);
  check_flights(continuous, false, true);
  check_flights(continuous, true, false);
}

TEST_CASE("lunar lander: piloted through wind they are Gymnasium's too", "[.slow]") {
  const bool continuous = GENERATE(false, true);
  check_flights(continuous, true, true);
}

TEST_CASE("lunar lander: forty steps from seed 42 are nearly Gymnasium's", "[env]") {
  const bool wind = GENERATE(false, true);
  const bool continuous = GENERATE(false, true);
  auto recorded =
      reference(std::string(continuous ? "LunarLanderContinuous-v3" : "LunarLander-v3") +
                (wind ? " 1 script" : " 0 script"));
  const auto check = [&recorded](double ours, double margin) {
    double theirs = 0;
    REQUIRE(recorded >> theirs);
    CHECK(std::abs(ours - theirs) < margin);
  };
  lunar_lander lander({.continuous = continuous, .enable_wind = wind});
  observation obs;
  lander.reset(42, obs);
  for (const float value : obs) check(value, 1e-4);
  double sum = 0;
  for (int t = 0; t < 40; ++t) {
    const action next{
        .choice = t % 4,
        .throttles = {static_cast<float>(t % 5 - 2) / 2, static_cast<float>(t % 3 - 1) * 0.75F}};
    sum += fly(lander, continuous, next, obs).reward;
  }
  for (const float value : obs) check(value, 5e-4);
  check(sum, 0.15);
}

TEST_CASE("lunar lander: engines below their thresholds are off", "[env]") {
  lunar_lander idle({.continuous = true}), below({.continuous = true}), fired({.continuous = true});
  observation one, other, lit;
  idle.reset(5, one);
  below.reset(5, other);
  fired.reset(5, lit);
  const std::array<float, 2> none{-1, 0}, weak{0, 0.5F}, strong{0.01F, 0.51F};
  const auto nothing = idle.step(action_view(std::span<const float>(none)), one);
  const auto little = below.step(action_view(std::span<const float>(weak)), other);
  fired.step(action_view(std::span<const float>(strong)), lit);
  CHECK(one == other);
  CHECK(nothing.reward == little.reward);
  CHECK(lit[3] > one[3]);  // half power at once
  CHECK(lit[5] != one[5]);
}

TEST_CASE("lunar lander: one that falls crashes, one that is flown may come to rest", "[env]") {
  lunar_lander lander;
  observation obs;
  lander.reset(1, obs);
  step_result last;
  const std::int64_t nothing = 0;
  for (int t = 0; t < 1000 && !last.terminated; ++t) last = lander.step(action_view(nothing), obs);
  CHECK(last.terminated);
  CHECK(last.reward == -100);
  int rested = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    lander.reset(seed, obs);
    last = {};
    for (int t = 0; t < 1000 && !last.terminated; ++t) last = fly(lander, false, pilot(obs), obs);
    rested += last.terminated && last.reward == 100;
  }
  CHECK(rested >= 5);
}

TEST_CASE("lunar lander: saved in mid-air it flies on bit for bit", "[env]") {
  const bool wind = GENERATE(false, true);
  lunar_lander one({.continuous = true, .enable_wind = wind});
  lunar_lander other({.continuous = true, .enable_wind = wind});
  observation obs, same;
  numpy_random random(9);
  one.reset(11, obs);
  for (int t = 0; t < 30; ++t) fly(one, true, random_action(random), obs);
  state_writer to;
  REQUIRE(one.save(to));
  other.restore(state_reader(to.bytes()));
  for (int t = 0; t < 200; ++t) {
    const auto next = random_action(random);
    const auto a = fly(one, true, next, obs);
    const auto b = fly(other, true, next, same);
    REQUIRE(obs == same);
    REQUIRE(a.reward == b.reward);
    if (!a.terminated) continue;
    one.reset(std::nullopt, obs);  // the generator goes on too
    other.reset(std::nullopt, same);
    REQUIRE(obs == same);
  }
}

TEST_CASE("lunar lander: spaces and limits are Gymnasium's, other values are refused", "[env]") {
  const auto discrete = make_vector_environment("LunarLander-v3", 2)->spec();
  const auto continuous = make_vector_environment("LunarLanderContinuous-v3", 2)->spec();
  CHECK(discrete.id == "LunarLander-v3");
  CHECK(continuous.id == "LunarLanderContinuous-v3");
  CHECK(to_string(discrete.action_space) == "Discrete(4)");
  CHECK(to_string(continuous.action_space) == "Box(-1.0, 1.0, (2,), float32)");
  CHECK(to_string(discrete.observation_space) ==
        "Box([-2.5 -2.5 -10.0 -10.0 -6.2831855 -10.0 0.0 0.0], [2.5 2.5 10.0 10.0 6.2831855 10.0 "
        "1.0 1.0], (8,), float32)");
  CHECK(discrete.max_episode_steps == 1000);
  CHECK(discrete.reward_threshold == 200.0);
  CHECK_THROWS_WITH(lunar_lander({.gravity = 0}),
                    "LunarLander: expected a gravity between -12 and 0, got 0");
  CHECK_THROWS_WITH(lunar_lander({.wind_power = 21}),
                    "LunarLander: expected a wind_power from 0 to 20, got 21");
  lunar_lander lander;
  observation obs;
  lander.reset(1, obs);
  const std::int64_t four = 4;
  CHECK_THROWS_WITH(lander.step(action_view(four), obs),
                    "LunarLander: expected action 0, 1, 2 or 3, got 4");
}

}  // namespace
}  // namespace troupe

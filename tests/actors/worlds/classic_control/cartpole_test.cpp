#include "actors/worlds/classic_control/cartpole.hpp"

#include <bit>
#include <fstream>
#include <sstream>
#include <vector>

#include "tests/actors/worlds/classic_control/trajectory.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

std::ifstream open_fixture(const std::string& name) {
  std::ifstream file(testing::source_path("tests/fixtures/gymnasium/") + name);
  REQUIRE(file.is_open());
  return file;
}

struct script_end {
  int steps = 0;
  std::array<float, 4> obs{};
  std::array<double, 4> state{};
};

// Runs actions after a reset with seed 42 until the pole falls.
template <class Choose>
script_end run_script(Choose choose) {
  cartpole env;
  script_end end;
  env.reset(42, end.obs);
  for (bool terminated = false; !terminated; ++end.steps) {
    const std::int64_t action = choose(end.steps);
    terminated = env.step(action_view(action), end.obs).terminated;
  }
  end.state = env.state();
  return end;
}

}  // namespace

TEST_CASE("cartpole: 2,000 random steps equal Gymnasium's bit for bit", "[env]") {
  auto file = open_fixture("cartpole_random.txt");
  const auto report = replay_trajectories(file, 5).at("CartPole-v1");
  INFO(report.first_mismatch);
  CHECK(report.steps == 2000);
  CHECK(report.resets == 95);
  CHECK(report.terminated == 94);
  CHECK(report.mismatches == 0);
}

TEST_CASE("cartpole: one flipped bit in a recorded trajectory is noticed", "[env]") {
  auto file = open_fixture("cartpole_random.txt");
  std::stringstream text;
  text << file.rdbuf();
  auto record = text.str();
  const auto at = record.find("3f9fdceb160957e2");  // the first step's position
  REQUIRE(at != std::string::npos);
  record[at + 15] = '3';
  std::istringstream changed(record);
  const auto report = replay_trajectories(changed, 5).at("CartPole-v1");
  CHECK(report.mismatches == 1);
  CHECK(report.first_mismatch.substr(0, 9) == "state at:");
}

TEST_CASE("cartpole: the recorded scripts from seed 42 end as Gymnasium's", "[env]") {
  auto file = open_fixture("cartpole_seed42.txt");
  std::stringstream text;
  text << file.rdbuf();
  auto check = [&](const script_end& end, int steps, std::array<const char*, 4> state_texts,
                   std::array<std::uint32_t, 4> obs_bits) {
    CHECK(end.steps == steps);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(text.str().find(state_texts[i]) != std::string::npos);
      CHECK(end.state[i] == std::stod(state_texts[i]));
      CHECK(std::bit_cast<std::uint32_t>(end.obs[i]) == obs_bits[i]);
    }
  };
  check(run_script([](int t) { return t % 2; }), 23,
        {"-0.023232166795156346", "-0.23219836892868473", "0.21864778382805364",
         "1.0176443826012553"},
        {0xbcbe5163, 0xbe6dc569, 0x3e5fe534, 0x3f82422c});
  check(run_script([](int) { return 1; }), 10,
        {"0.2015952861244479", "1.946418489777047", "-0.22034578765190743", "-2.990807653274184"},
        {0x3e4e6eff, 0x3ff9243e, 0xbe61a253, 0xc03f6965});
}

TEST_CASE("cartpole: a seeded reset gives Gymnasium's first state", "[env]") {
  const auto [seed, bits] = GENERATE(table<std::uint64_t, std::array<std::uint64_t, 4>>(
      {{0, {0x3f8c0cbca647ced0, 0xbf9792e736320f47, 0xbfa7808d4489d6d2, 0xbfa8c0f80ec8f29d}},
       {1, {0x3f535e59496dac00, 0x3fa7105158c043bc, 0xbfa2381235316a62, 0x3fa6f889bc9088e2}},
       {42, {0x3f9c0d97eba2bd40, 0xbf79090f63c0b010, 0x3fa25c36f3afc536, 0x3f9435e26c08cd04}}}));
  cartpole env;
  std::array<float, 4> obs{};
  env.reset(seed, obs);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(std::bit_cast<std::uint64_t>(env.state()[i]) == bits[i]);
    CHECK(obs[i] == static_cast<float>(env.state()[i]));
  }
}

TEST_CASE("cartpole: the fall is rewarded, steps after it are not", "[env]") {
  cartpole env;
  std::array<float, 4> obs{};
  const std::int64_t right = 1;
  env.reset(42, obs);
  for (int t = 0; t < 9; ++t) CHECK_FALSE(env.step(action_view(right), obs).terminated);
  const auto fall = env.step(action_view(right), obs);
  CHECK(fall.terminated);
  CHECK(fall.reward == 1.0);
  const auto after = env.step(action_view(right), obs);
  CHECK(after.terminated);
  CHECK(after.reward == 0.0);
}

TEST_CASE("cartpole: Sutton and Barto's reward is 0 a step and -1 for the fall", "[env]") {
  cartpole env({.sutton_barto_reward = true});
  std::array<float, 4> obs{};
  const std::int64_t right = 1;
  env.reset(42, obs);
  double sum = 0;
  for (int t = 0; t < 9; ++t) sum += env.step(action_view(right), obs).reward;
  CHECK(sum == 0.0);
  CHECK(env.step(action_view(right), obs).reward == -1.0);
}

TEST_CASE("cartpole: semi-implicit Euler moves positions with the new velocities", "[env]") {
  cartpole explicit_env;
  cartpole semi_implicit_env({.semi_implicit_euler = true});
  std::array<float, 4> obs{};
  explicit_env.reset(42, obs);
  semi_implicit_env.reset(42, obs);
  const auto before = explicit_env.state();
  const std::int64_t right = 1;
  explicit_env.step(action_view(right), obs);
  semi_implicit_env.step(action_view(right), obs);
  const auto after = semi_implicit_env.state();
  CHECK(after[1] == explicit_env.state()[1]);
  CHECK(after[0] == before[0] + 0.02 * after[1]);
  CHECK(after[2] == before[2] + 0.02 * after[3]);
  CHECK(explicit_env.state()[0] == before[0] + 0.02 * before[1]);
}

TEST_CASE("cartpole: an action other than 0 and 1 is refused with its value", "[env]") {
  cartpole env;
  std::array<float, 4> obs{};
  env.reset(1, obs);
  const std::int64_t two = 2;
  CHECK_THROWS_WITH(env.step(action_view(two), obs), "CartPole: expected action 0 or 1, got 2");
}

TEST_CASE("cartpole: versions differ in time limit and threshold only", "[env]") {
  const auto v0 = cartpole({.version = cartpole_options::version::v0}).spec();
  const auto v1 = cartpole().spec();
  CHECK(v0.id == "CartPole-v0");
  CHECK(v0.max_episode_steps == 200);
  CHECK(v0.reward_threshold == 195.0);
  CHECK(v1.id == "CartPole-v1");
  CHECK(v1.max_episode_steps == 500);
  CHECK(v1.reward_threshold == 475.0);
  CHECK(v0.observation_space == v1.observation_space);
  CHECK(to_string(v1.action_space) == "Discrete(2)");
  CHECK(to_string(v1.observation_space) ==
        "Box([-4.8 -inf -0.41887903 -inf], [4.8 inf 0.41887903 inf], (4,), float32)");
}

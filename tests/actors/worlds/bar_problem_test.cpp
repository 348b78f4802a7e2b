#include "actors/worlds/bar_problem/bar_problem.hpp"

#include <cmath>

#include "actors/worlds/registry.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;

const std::string six = R"({"agents":6,"nights":2,"capacity":2,"rounds":2})";

std::vector<double> rewards_of(environment& bar, const std::vector<std::int64_t>& nights) {
  std::vector<float> obs(bar.spec().observation_space.flat_size());
  bar.step(action_view(std::span<const std::int64_t>(nights)), obs);
  std::vector<double> rewards;
  for (const auto& step : bar.agent_steps()) rewards.push_back(step.reward);
  return rewards;
}

TEST_CASE("bar problem: an agent gets what the attendance of its night is worth", "[env]") {
  auto bar = make_environment({.id = "bar_problem-v0", .options = six});
  std::vector<float> obs(bar->spec().observation_space.flat_size());
  bar->reset(1, obs);
  const double one = std::exp(-0.5), three = std::exp(-1.5);
  CHECK(rewards_of(*bar, {0, 1, 2, 2, 0, 2}) ==
        std::vector<double>{0, one, three, three, 0, three});
  CHECK(bar->agent_steps()[0].ended == episode_end::none);
  CHECK(rewards_of(*bar, {0, 0, 0, 0, 0, 0}) == std::vector<double>(6, 0.0));
  CHECK(bar->agent_steps()[5].ended == episode_end::terminated);
}

TEST_CASE("bar problem: the team's reward is greatest where each night has its capacity", "[env]") {
  const auto mean = [](const std::vector<std::int64_t>& nights) {
    auto bar = make_environment({.id = "bar_problem-v0", .options = six});
    std::vector<float> obs(bar->spec().observation_space.flat_size());
    bar->reset(1, obs);
    return bar->step(action_view(std::span<const std::int64_t>(nights)), obs).reward;
  };
  const double best = mean({0, 0, 1, 1, 2, 2});
  CHECK(best == Approx(2 * 2 * std::exp(-1.0) / 6));
  for (std::int64_t code = 0; code < 729; ++code) {
    std::vector<std::int64_t> nights;
    for (auto rest = code; nights.size() < 6; rest /= 3) nights.push_back(rest % 3);
    CHECK(mean(nights) <= best + 1e-12);
  }
}

TEST_CASE("bar problem: difference rewards are what a choice is worth to the team", "[env]") {
  auto bar = make_environment(
      {.id = "bar_problem-v0", .options = six, .wrappers = {.difference_rewards = true}});
  std::vector<float> obs(bar->spec().observation_space.flat_size());
  bar->reset(1, obs);
  const auto worth = [](double x) { return x * std::exp(-x / 2); };
  const auto got = rewards_of(*bar, {0, 1, 2, 2, 2, 2});
  CHECK(got[0] == 0);
  CHECK(got[1] == Approx((worth(1) - worth(0)) / 6));
  CHECK(got[2] == Approx((worth(4) - worth(3)) / 6));
  CHECK(got[2] < 0);
}

TEST_CASE("bar problem: a saved game goes on", "[env]") {
  auto bar = make_environment({.id = "bar_problem-v0", .options = six});
  std::vector<float> obs(bar->spec().observation_space.flat_size());
  bar->reset(1, obs);
  rewards_of(*bar, {0, 1, 2, 2, 0, 2});
  state_writer to;
  REQUIRE(bar->save(to));
  auto other = make_environment({.id = "bar_problem-v0", .options = six});
  other->reset(2, obs);
  other->restore(state_reader(to.bytes()));
  rewards_of(*other, {0, 0, 0, 0, 0, 1});
  CHECK(other->agent_steps()[0].ended == episode_end::terminated);
  auto smaller = make_environment({.id = "bar_problem-v0", .options = R"({"nights":3})"});
  CHECK_THROWS_WITH(smaller->restore(state_reader(to.bytes())),
                    Contains("bar_problem-v0: expected 5 numbers >= 0"));
}

TEST_CASE("bar problem: options outside of their ranges are refused", "[env]") {
  for (const std::string options : {R"({"agents":1})", R"({"nights":0})", R"({"capacity":0})"}) {
    CAPTURE(options);
    CHECK_THROWS_WITH(make_environment({.id = "bar_problem-v0", .options = options}),
                      Contains("bar_problem-v0"));
  }
}

}  // namespace
}  // namespace troupe

// The players by fixed rules beside players at random. The means that they reach are those of
// fixed seeds, so they are the same each time.

#include "actors/worlds/mpe/scripted.hpp"

#include "actors/worlds/registry.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

constexpr int episodes = 400;

/// Plays episodes side by side. `choose` gets the observations [D] of one world and appends the
/// actions of all agents. Returns the mean return of each agent.
template <class Choose>
std::vector<double> returns_of(const std::string& id, const Choose& choose) {
  const auto env = make_vector_environment(id, episodes);
  const auto agents = env->spec().agents.size();
  auto obs = env->reset(1000).obs;
  const auto width = obs.size() / episodes;
  for (;;) {
    env_actions actions;
    for (std::size_t i = 0; i < episodes; ++i)
      choose(std::span<const float>(obs).subspan(i * width, width), actions.discrete);
    auto after = env->step(std::move(actions));
    obs = std::move(after.obs);
    if (after.finished.empty()) continue;
    REQUIRE(after.finished.size() == episodes);
    std::vector<double> means(agents);
    for (const auto& of : after.finished)
      for (std::size_t i = 0; i < agents; ++i) means[i] += of.agent_returns[i] / episodes;
    return means;
  }
}

using choices = recycled_vector<std::int64_t>;

TEST_CASE("scripted: agents that share out the landmarks cover them", "[env]") {
  numpy_random random(1);
  const auto at_random = returns_of("simple_spread_v3", [&](auto, choices& to) {
    for (int i = 0; i < 3; ++i) to.push_back(random.integers(0, 5));
  });
  const auto by_rule = returns_of("simple_spread_v3", [](auto obs, choices& to) {
    for (const auto action : scripted_spread(obs.first(54), 3)) to.push_back(action);
  });
  CHECK(at_random[0] == Approx(-27).margin(1.5));
  CHECK(by_rule[0] > -9.5);
}

TEST_CASE("scripted: a listener that believes the speaker comes to the goal", "[env]") {
  numpy_random random(1);
  const std::string id = "simple_speaker_listener_v4";
  const auto at_random = returns_of(id, [&](auto, choices& to) {
    to.push_back(random.integers(0, 3));
    to.push_back(random.integers(0, 5));
  });
  const auto by_rule = returns_of(id, [](auto obs, choices& to) {
    to.push_back(scripted_speaker(obs.first(3)));
    to.push_back(scripted_listener(obs.subspan(3, 11)));
  });
  CHECK(at_random[0] == Approx(-40).margin(5));
  CHECK(by_rule[0] > -10);
}

TEST_CASE("scripted: chasers catch a runner at random often, and one that flees less", "[env]") {
  numpy_random random(1);
  const auto play = [&](bool chases, bool flees) {
    return returns_of("simple_tag_v3", [&](auto obs, choices& to) {
      for (std::size_t i = 0; i < 3; ++i)
        to.push_back(chases ? scripted_chaser(obs.subspan(16 * i, 16)) : random.integers(0, 5));
      to.push_back(flees ? scripted_runner(obs.subspan(48, 14)) : random_runner(random));
    });
  };
  const auto chased = play(true, false), fled = play(true, true), left_alone = play(false, false);
  CHECK(left_alone[0] < 10);
  CHECK(fled[0] > 25);
  CHECK(chased[0] > 1.5 * fled[0]);
  CHECK(chased[3] < fled[3]);
  CHECK(fled[0] == fled[2]);  // adversaries share their reward
}

TEST_CASE("scripted: agents take the landmarks whose distances have the least sum", "[env]") {
  // Two agents, at (0, 0) and (1, 0), which stand still. Both are nearest to the landmark at (1,
  // 0), but the other one is at (3, 0), so agent_0 takes that at (1, 0) and agent_1 that at (3, 0).
  const std::vector<float> obs{0, 0, 0, 0, 1, 0, 3, 0, 1,  0, 0, 0,   // agent_0
                               0, 0, 1, 0, 0, 0, 2, 0, -1, 0, 0, 0};  // agent_1
  CHECK(scripted_spread(obs, 2) == std::vector<std::int64_t>{2, 2});
  CHECK_THROWS_WITH(scripted_spread(obs, 9), "scripted_spread: expected at most 8 agents, got 9");
}

TEST_CASE("scripted: a listener coasts where its velocity carries it to the goal", "[env]") {
  std::vector<float> obs{0, 0, 1, 0, 0, 0.4F, 0, 0, 0, 1, 0};  // hears that the second is the goal
  CHECK(scripted_listener(obs) == 4);
  obs[1] = 1;
  CHECK(scripted_listener(obs) == 0);
  obs[1] = 2;
  CHECK(scripted_listener(obs) == 3);
  obs[9] = 0;
  CHECK(scripted_listener(obs) == 0);
  CHECK(scripted_speaker(std::vector<float>{0.15F, 0.15F, 0.65F}) == 2);
}

TEST_CASE("scripted: a runner flees the nearest chaser, and doesn't leave the square", "[env]") {
  simple_tag_options options;
  options.adversaries = 2;
  options.obstacles = 0;
  std::vector<float> obs{0, 0, 0.2F, 0.5F, 2, 0, 0.1F, -0.3F};  // chasers far right, and below
  CHECK(scripted_runner(obs, options) == 4);
  obs[3] = 0.95F;
  CHECK(scripted_runner(obs, options) == 3);
  obs[2] = -0.97F;
  CHECK(scripted_runner(obs, options) == 2);
}

}  // namespace
}  // namespace troupe

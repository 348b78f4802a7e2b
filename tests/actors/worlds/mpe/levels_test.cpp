// What the particle environments have beside those of the Python package: levels by the number of
// agents, and agents that nobody hears.

#include <cmath>

#include "actors/environments/vector_env.hpp"
#include "actors/worlds/mpe/simple_speaker_listener.hpp"
#include "actors/worlds/mpe/simple_spread.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

simple_spread_options growing() {
  simple_spread_options options;
  options.curriculum = true;
  return options;
}

}  // namespace

TEST_CASE("simple_spread: a level has as many agents as its number says, and they alone count") {
  vector_env<simple_spread> worlds(1, [] { return simple_spread(growing()); });
  const auto spec = worlds.spec();
  CHECK(spec.levels == 3);
  const agent_layout layout(spec);
  for (std::size_t level = 0; level < 3; ++level) {
    CAPTURE(level);
    worlds.set_level(level);
    auto obs = worlds.reset(7).obs;
    for (int t = 0; t < 25; ++t) {
      for (std::size_t i = 0; i < 3; ++i) {
        const auto own = layout[i].obs.of(std::span<const float>(obs));
        CHECK(layout.acts(obs, i) == (i <= level));
        const bool shows = std::ranges::any_of(own, [](float x) { return x != 0; });
        CHECK(shows == (i <= level));
        // The relative positions of landmarks and agents that are not there are zeros.
        for (std::size_t place = level + 1; place < 3; ++place) CHECK(own[4 + 2 * place] == 0);
      }
      env_actions actions;
      actions.discrete = {1, 2, 3};
      auto after = worlds.step(actions);
      for (std::size_t i = level + 1; i < 3; ++i) CHECK(after.agent_reward[i] == 0);
      CHECK(after.agent_reward[0] < 0);
      obs = std::move(after.obs);
    }
  }
}

TEST_CASE("simple_spread: on the first level the reward is the distance of the only agent") {
  vector_env<simple_spread> worlds(1, [] { return simple_spread(growing()); });
  const auto spec = worlds.spec();
  const agent_layout layout(spec);
  worlds.set_level(0);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    worlds.reset(seed);
    env_actions actions;
    actions.discrete = {1, 2, 3};
    const auto after = worlds.step(actions);
    const auto own = layout[0].obs.of(std::span<const float>(after.obs));
    const double distance = std::hypot(own[4], own[5]);  // from the landmark
    CHECK(after.agent_reward[0] == Approx(-0.5 * distance).epsilon(1e-5));
  }
}

TEST_CASE("simple_spread: the last level is the environment without levels") {
  simple_spread plain{simple_spread_options{}};
  simple_spread last(growing());
  const auto spec = plain.spec();
  std::vector<float> one(spec.observation_space.flat_size());
  std::vector<float> other(last.spec().observation_space.flat_size());
  last.set_level(2);
  plain.reset(3, one);
  last.reset(3, other);
  for (std::int64_t t = 0; t < 25; ++t) {
    const std::vector<std::int64_t> actions{t % 5, (t + 1) % 5, (t + 3) % 5};
    CHECK(plain.step(action_view(actions), one).reward ==
          last.step(action_view(actions), other).reward);
    CHECK(std::equal(one.begin(), one.end(), other.begin()));
  }
}

TEST_CASE("simple_speaker_listener: nobody hears a silent speaker") {
  mpe_options options;
  options.silent = true;
  simple_speaker_listener silent(options), plain{mpe_options{}};
  std::vector<float> one(silent.spec().observation_space.flat_size()), other(one.size());
  silent.reset(1, one);
  plain.reset(1, other);
  const std::vector<std::int64_t> actions{2, 1};
  silent.step(action_view(actions), one);
  plain.step(action_view(actions), other);
  const agent_layout layout(plain.spec());
  const auto heard = [&](const std::vector<float>& row) {
    const auto seen = layout[1].obs.of(std::span(row));
    return std::vector<float>(seen.end() - 3, seen.end());
  };
  CHECK(heard(one) == std::vector<float>{0, 0, 0});
  CHECK(heard(other) == std::vector<float>{0, 0, 1});
}

}  // namespace troupe

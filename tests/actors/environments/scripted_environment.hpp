#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "actors/environments/environment.hpp"

namespace troupe {

/// An environment that does what a test says. Observation [2]: steps since the reset, seed. What a
/// test does not set behaves well: reward 1, no end.
class scripted_environment final : public environment {
 public:
  struct script {
    std::optional<std::int64_t> max_episode_steps = std::nullopt;
    space action_space = spaces::discrete(2);
    /// Called after the observation was written, with the steps since the reset.
    std::function<step_result(std::int64_t t, action_view action, std::span<float> obs)> on_step;
    std::function<void(std::span<float> obs)> on_reset;
  };

  explicit scripted_environment(script what) : script_(std::move(what)) {}

  env_spec spec() const override {
    return {.id = "Scripted-v0",
            .observation_space = spaces::box(-1e6F, 1e6F, {2}),
            .action_space = script_.action_space,
            .max_episode_steps = script_.max_episode_steps};
  }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    if (seed) seed_ = static_cast<float>(*seed);
    t_ = 0;
    write_obs(std::vector{0.0F, seed_}, obs);
    if (script_.on_reset) script_.on_reset(obs);
  }
  step_result step(action_view action, std::span<float> obs) override {
    ++t_;
    write_obs(std::vector{static_cast<float>(t_), seed_}, obs);
    return script_.on_step ? script_.on_step(t_, action, obs) : step_result{.reward = 1};
  }

 private:
  script script_;
  std::int64_t t_ = 0;
  float seed_ = -1;
};

}  // namespace troupe

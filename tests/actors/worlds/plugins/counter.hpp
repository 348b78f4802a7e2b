#pragma once
// What the plug-ins of the tests are made of.

#include <stdexcept>

#include "actors/worlds/plugin.hpp"

/// Shows the number of steps.
class counter : public troupe::environment {
 public:
  explicit counter(const std::string& json = "{}") : first_(json == "{}" ? 0.0f : 100.0f) {
    if (json != "{}" && json != R"({"first":100})") {
      throw std::invalid_argument("env.options: expected {\"first\":100}, got " + json);
    }
  }

  troupe::env_spec spec() const override {
    return {.id = "Counter-v0",
            .observation_space = troupe::spaces::box(0.0f, 1000.0f, {1}),
            .action_space = troupe::spaces::discrete(2),
            .max_episode_steps = 5};
  }
  void reset(std::optional<std::uint64_t>, std::span<float> obs) override {
    obs[0] = steps_ = first_;
  }
  troupe::step_result step(troupe::action_view action, std::span<float> obs) override {
    if (action.discrete() == 1) throw std::runtime_error("the plug-in's own error");
    obs[0] = ++steps_;
    return {.reward = 1};
  }

 private:
  float first_;
  float steps_ = 0;
};

#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "actors/environments/environment.hpp"
#include "actors/environments/space_sampler.hpp"

namespace troupe::testing {

/// An episode of one step. The observation is a random element of the action space, flattened, and
/// the reward is the share of its numbers that the action repeats: 1 for an equal integer, and
/// 1 - |difference| for a float.
class shown_action final : public environment {
 public:
  explicit shown_action(space actions) : actions_(std::move(actions)), draw_(actions_, 0) {}

  env_spec spec() const override {
    const auto size = static_cast<std::int64_t>(actions_.flat_size());
    return {.id = "ShownAction-v0",
            .observation_space = spaces::box(-1e3F, 1e3F, {size}),
            .action_space = actions_};
  }

  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    if (seed) draw_ = space_sampler(actions_, *seed);
    const auto shown = draw_.sample();
    integers_.clear();
    floats_.clear();
    collect(shown);
    write_obs(actions_.flatten(shown), obs);
  }

  step_result step(action_view action, std::span<float> obs) override {
    double repeated = 0;
    for (std::size_t i = 0; i < integers_.size(); ++i) {
      repeated += action.parts()[i] == integers_[i] ? 1 : 0;
    }
    for (std::size_t i = 0; i < floats_.size(); ++i) {
      repeated += 1 - std::abs(action.continuous()[i] - floats_[i]);
    }
    write_obs(std::vector<float>(obs.size()), obs);
    const auto numbers = static_cast<double>(integers_.size() + floats_.size());
    return {.reward = repeated / numbers, .terminated = true};
  }

 private:
  void collect(const space_value& shown) {
    if (const auto* one = std::get_if<std::int64_t>(&shown)) integers_.push_back(*one);
    append(std::get_if<std::vector<std::int64_t>>(&shown), integers_);
    append(std::get_if<std::vector<std::uint8_t>>(&shown), integers_);
    append(std::get_if<std::vector<float>>(&shown), floats_);
    if (const auto* parts = std::get_if<std::vector<space_value>>(&shown)) {
      for (const auto& part : *parts) collect(part);
    }
  }
  static void append(const auto* numbers, auto& to) {
    if (numbers) to.insert(to.end(), numbers->begin(), numbers->end());
  }

  space actions_;
  space_sampler draw_;
  std::vector<std::int64_t> integers_;
  std::vector<float> floats_;
};

}  // namespace troupe::testing

#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "actors/environments/env_state.hpp"
#include "actors/environments/environment.hpp"

namespace troupe::testing {

/// An episode of one step. The camera shows a bright square in the left or right half of a dark
/// image, and the rule says whether to go there or to the other side, so that either of them alone
/// says nothing. The reward is 1 for the right side, which is an action of Discrete(2), or of a Box
/// whose targets are -0.8 and 0.8.
class hidden_rule final : public environment {
 public:
  struct options {
    bool continuous = false;
    bool interleaved = false;  ///< The image is [8, 8, 3] instead of [1, 8, 8].
    bool shows_camera = true;  ///< If false, the image is always dark.
    bool shows_rule = true;    ///< If false, the rule is always 0.
  };

  explicit hidden_rule(options with) : with_(with) {}

  env_spec spec() const override {
    auto camera = with_.interleaved ? spaces::image(8, 8, 3) : spaces::image(1, 8, 8);
    space actions = spaces::discrete(2);
    if (with_.continuous) actions = spaces::box(-2, 2, {1});
    return {.id = "HiddenRule-v0",
            .observation_space =
                spaces::dict({{"rule", spaces::box(-1, 1, {2})}, {"camera", std::move(camera)}}),
            .action_space = actions};
  }

  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    random_.begin_episode(seed);
    const bool square_is_right = random_->integers(0, 2) == 1;
    const bool goes_there = random_->integers(0, 2) == 1;
    goes_right_ = square_is_right == goes_there;
    std::vector<float> shown(obs.size());
    const std::size_t channels = with_.interleaved ? 3 : 1;
    const auto top = static_cast<std::size_t>(random_->integers(0, 6));
    const auto left = static_cast<std::size_t>(random_->integers(0, 2)) + (square_is_right ? 5 : 0);
    for (std::size_t y = top; with_.shows_camera && y < top + 3; ++y) {
      for (std::size_t x = left; x < left + 2; ++x) shown[(y * 8 + x) * channels] = 255;
    }
    if (with_.shows_rule) {  // the camera's floats come first, as keys are in order
      shown[shown.size() - 2] = goes_there ? 1 : -1;
      shown[shown.size() - 1] = goes_there ? -1 : 1;
    }
    write_obs(shown, obs);
  }

  step_result step(action_view action, std::span<float> obs) override {
    write_obs(std::vector<float>(obs.size()), obs);
    if (!with_.continuous) {
      const bool went_right = action.discrete() == 1;
      return {.reward = went_right == goes_right_ ? 1.0 : 0.0, .terminated = true};
    }
    const double target = goes_right_ ? 0.8 : -0.8;
    return {.reward = 1 - std::abs(action.continuous()[0] - target), .terminated = true};
  }

  bool save(state_writer& to) const override {
    random_.save(to);
    put_numbers(to);
    return true;
  }
  void restore(const state_reader& from) override {
    random_.restore(from);
    double state[1];
    detail::get_numbers(from, "HiddenRule-v0", state);
    goes_right_ = state[0] != 0;
  }

 private:
  void put_numbers(state_writer& to) const {
    const double state[1] = {goes_right_ ? 1.0 : 0.0};
    detail::put_numbers(to, state);
  }

  options with_;
  detail::env_random random_;
  bool goes_right_ = false;
};

}  // namespace troupe::testing

#include "algorithms/off_policy/exploration.hpp"

#include <algorithm>
#include <cmath>

#include "actors/checkpoint/state.hpp"

namespace troupe {

double epsilon_schedule::at(std::int64_t step, std::int64_t total_steps) const {
  const double progress = static_cast<double>(step) / static_cast<double>(total_steps);
  if (progress >= fraction) return final;
  return initial + progress / fraction * (final - initial);
}

void action_noise::add(std::vector<float>& actions, action_random& random) {
  if (options_.kind == noise_kind::none) return;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    double noise = options_.std * random.normal();
    if (options_.kind == noise_kind::ornstein_uhlenbeck) {
      noise = state_[i] * (1 - options_.theta * options_.dt) + noise * std::sqrt(options_.dt);
      state_[i] = noise;
    }
    actions[i] = std::clamp(actions[i] + static_cast<float>(noise), -1.0f, 1.0f);
  }
}

void action_noise::reset(std::size_t environment) {
  if (state_.empty()) return;
  std::fill_n(state_.begin() + static_cast<std::ptrdiff_t>(environment * actions_), actions_, 0.0);
}

void action_noise::set_state(std::vector<double> state) {
  if (state.size() != state_.size()) {
    throw state_error("saved noise: expected " + std::to_string(state_.size()) + " numbers, got " +
                      std::to_string(state.size()));
  }
  state_ = std::move(state);
}

}  // namespace troupe

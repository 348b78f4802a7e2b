#include "actors/worlds/classic_control/mountain_car.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace troupe {
namespace {

constexpr double leftmost = -1.2, rightmost = 0.6;
constexpr double speed_limit = 0.07;
constexpr double goal = 0.5;
constexpr double push = 0.001;
constexpr double gravity = 0.0025;

}  // namespace

env_spec mountain_car::spec() const {
  const auto speed = static_cast<float>(speed_limit);
  return {.id = "MountainCar-v0",
          .observation_space = spaces::box({static_cast<float>(leftmost), -speed},
                                           {static_cast<float>(rightmost), speed}),
          .action_space = spaces::discrete(3),
          .max_episode_steps = 200,
          .reward_threshold = -110.0};
}

void mountain_car::reset(std::optional<std::uint64_t> seed, std::span<float> obs) {
  random_.begin_episode(seed);
  state_ = {random_->uniform(-0.6, -0.4), 0.0};
  show(obs);
}

// Equality in the last bit depends on the order of operations, so this file is compiled with
// -ffp-contract=off.
step_result mountain_car::step(action_view action, std::span<float> obs) {
  const auto choice = action.discrete();
  if (choice < 0 || choice > 2)
    throw std::invalid_argument("MountainCar: expected action 0, 1 or 2, got " +
                                std::to_string(choice));
  auto& [position, velocity] = state_;
  velocity += static_cast<double>(choice - 1) * push + std::cos(3 * position) * -gravity;
  velocity = std::clamp(velocity, -speed_limit, speed_limit);
  position = std::clamp(position + velocity, leftmost, rightmost);
  if (position == leftmost && velocity < 0) velocity = 0;  // the wall stops the car
  show(obs);
  return {.reward = -1, .terminated = position >= goal && velocity >= options_.goal_velocity};
}

bool mountain_car::save(state_writer& to) const {
  detail::put_numbers(to, state_);
  random_.save(to);
  return true;
}

void mountain_car::restore(const state_reader& from) {
  detail::get_numbers(from, "MountainCar", state_);
  random_.restore(from);
}

void mountain_car::show(std::span<float> obs) const {
  obs[0] = static_cast<float>(state_[0]);
  obs[1] = static_cast<float>(state_[1]);
}

void describe(options_schema<mountain_car_options>& s) {
  s.field("goal_velocity", &mountain_car_options::goal_velocity)
      .help("The lowest velocity at which the goal counts.");
}

}  // namespace troupe

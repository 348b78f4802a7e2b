#include "actors/worlds/classic_control/mountain_car_continuous.hpp"

#include <algorithm>
#include <cmath>

#include "actors/worlds/classic_control/numpy_power.hpp"

namespace troupe {
namespace {

constexpr double leftmost = -1.2, rightmost = 0.6;
constexpr double speed_limit = 0.07;
constexpr double goal = 0.45;
constexpr double power = 0.0015;
constexpr double gravity = 0.0025;

/// Takes one step with the types of NumPy 2: `Real` is the type of the state, and a constant
/// combined with a float is a float. A force beyond a bound is replaced by the bound, a Python
/// constant, so its product is a double. Returns whether the car is at the goal.
template <class Real>
bool move(Real& position, Real& velocity, float force, double goal_velocity) {
  constexpr auto real = [](double constant) { return static_cast<Real>(constant); };
  const double pull = gravity * std::cos(double{real(3) * position});
  if (force > 1 || force < -1)
    velocity += real((force > 1 ? 1.0 : -1.0) * power - pull);
  else
    velocity += real(double{force * static_cast<float>(power) - static_cast<float>(pull)});
  velocity = std::clamp(velocity, real(-speed_limit), real(speed_limit));
  position = std::clamp(position + velocity, real(leftmost), real(rightmost));
  if (position == real(leftmost) && velocity < 0) velocity = 0;  // the wall stops the car
  return position >= real(goal) && velocity >= real(goal_velocity);
}

}  // namespace

env_spec mountain_car_continuous::spec() const {
  const auto speed = static_cast<float>(speed_limit);
  return {.id = "MountainCarContinuous-v0",
          .observation_space = spaces::box({static_cast<float>(leftmost), -speed},
                                           {static_cast<float>(rightmost), speed}),
          .action_space = spaces::box(-1.0F, 1.0F, {1}),
          .max_episode_steps = 999,
          .reward_threshold = 90.0,
          .render_fps = 30};
}

void mountain_car_continuous::reset(std::optional<std::uint64_t> seed, std::span<float> obs) {
  random_.begin_episode(seed);
  state_ = {random_->uniform(-0.6, -0.4), 0.0};
  is_single_ = false;
  obs[0] = static_cast<float>(state_[0]);
  obs[1] = 0;
}

// Equality in the last bit depends on the order of operations, so this file is compiled with
// -ffp-contract=off.
step_result mountain_car_continuous::step(action_view action, std::span<float> obs) {
  const float force = action.continuous()[0];
  bool at_goal = false;
  if (is_single_) {
    auto position = static_cast<float>(state_[0]);
    auto velocity = static_cast<float>(state_[1]);
    at_goal = move(position, velocity, force, options_.goal_velocity);
    obs[0] = position;
    obs[1] = velocity;
  } else {
    at_goal = move(state_[0], state_[1], force, options_.goal_velocity);
    obs[0] = static_cast<float>(state_[0]);
    obs[1] = static_cast<float>(state_[1]);
  }
  state_ = {obs[0], obs[1]};
  is_single_ = true;
  const double cost = detail::power_2(double{force}) * 0.1;
  return {.reward = (at_goal ? 100.0 : 0.0) - cost, .terminated = at_goal};
}

bool mountain_car_continuous::render(canvas& on) const {
  return detail::draw_mountain_car(on, state_[0], goal);
}

bool mountain_car_continuous::save(state_writer& to) const {
  detail::put_numbers(to, state_);
  to.put("is_single", is_single_);
  random_.save(to);
  return true;
}

void mountain_car_continuous::restore(const state_reader& from) {
  detail::get_numbers(from, "MountainCarContinuous", state_);
  from.get("is_single", is_single_);
  random_.restore(from);
}

}  // namespace troupe

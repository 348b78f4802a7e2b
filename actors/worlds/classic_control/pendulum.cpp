#include "actors/worlds/classic_control/pendulum.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "actors/environments/canvas.hpp"
#include "actors/worlds/classic_control/numpy_power.hpp"

namespace troupe {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double speed_limit = 8;  // rad/s
constexpr float torque_limit = 2;  // N m
constexpr double mass = 1;         // kg
constexpr double length = 1;       // m
constexpr double tau = 0.05;       // s

// Wraps an angle into [-pi, pi) with Python's remainder, which has the divisor's sign.
double wrapped(double angle) {
  double remainder = std::fmod(angle + pi, 2 * pi);
  if (remainder < 0) remainder += 2 * pi;
  return remainder - pi;
}

}  // namespace

env_spec pendulum::spec() const {
  const auto speed = static_cast<float>(speed_limit);
  return {.id = "Pendulum-v1",
          .observation_space = spaces::box({-1, -1, -speed}, {1, 1, speed}),
          .action_space = spaces::box(-torque_limit, torque_limit, {1}),
          .max_episode_steps = 200,
          .render_fps = 30};
}

void pendulum::reset(std::optional<std::uint64_t> seed, std::span<float> obs) {
  random_.begin_episode(seed);
  state_[0] = random_->uniform(-pi, pi);
  state_[1] = random_->uniform(-1.0, 1.0);
  show(obs);
}

// The torque is a float in Gymnasium, and numbers computed from it alone are rounded to floats. All
// other numbers are doubles. This file is compiled with -ffp-contract=off.
step_result pendulum::step(action_view action, std::span<float> obs) {
  auto& [angle, speed] = state_;
  const float torque = std::clamp(action.continuous()[0], -torque_limit, torque_limit);
  const float torque_cost = 0.001F * detail::power_2(torque);
  const double cost =
      detail::power_2(wrapped(angle)) + 0.1 * detail::power_2(speed) + double{torque_cost};

  const float lift = static_cast<float>(3.0 / (mass * (length * length))) * torque;
  speed = speed + (3 * options_.gravity / (2 * length) * sine_ + double{lift}) * tau;
  speed = std::clamp(speed, -speed_limit, speed_limit);
  angle = angle + speed * tau;
  show(obs);
  return {.reward = -cost};
}

bool pendulum::render(canvas& on) const {
  constexpr int side = 500;
  constexpr double scale = side / 4.4;  // pixels a metre
  const canvas::point axle{side / 2.0, side / 2.0};
  const canvas::point tip{axle.x - std::sin(state_[0]) * length * scale,
                          axle.y - std::cos(state_[0]) * length * scale};
  on.begin(side, side, {255, 255, 255});
  on.line(axle, tip, 0.2 * scale, {204, 77, 77});
  on.circle(axle, 0.05 * scale, {});
  return true;
}

bool pendulum::save(state_writer& to) const {
  detail::put_numbers(to, state_);
  random_.save(to);
  return true;
}

void pendulum::restore(const state_reader& from) {
  detail::get_numbers(from, "Pendulum", state_);
  random_.restore(from);
  sine_ = std::sin(state_[0]);
}

void pendulum::show(std::span<float> obs) {
  sine_ = std::sin(state_[0]);
  obs[0] = static_cast<float>(std::cos(state_[0]));
  obs[1] = static_cast<float>(sine_);
  obs[2] = static_cast<float>(state_[1]);
}

void describe(options_schema<pendulum_options>& s) {
  s.field("g", &pendulum_options::gravity).unit("m/s^2").help("The gravity.");
}

}  // namespace troupe

#include "actors/worlds/classic_control/acrobot.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "actors/environments/canvas.hpp"
#include "actors/worlds/classic_control/numpy_power.hpp"

namespace troupe {
namespace {

using four = std::array<double, 4>;

constexpr double pi = std::numbers::pi;
constexpr double tau = 0.2;               // s
constexpr double link_length = 1;         // m, length of the first link
constexpr double centre = 0.5;            // m, distance of the centre of mass along either link
constexpr double mass = 1;                // kg, mass of either link
constexpr double inertia = 1;             // kg m^2, moment of inertia of either link
constexpr double gravity = 9.8;           // m/s^2
constexpr double speed_limit_1 = 4 * pi;  // rad/s
constexpr double speed_limit_2 = 9 * pi;  // rad/s

/// Returns the time derivatives of (theta1, theta2, dtheta1, dtheta2): Sutton and Barto 1998,
/// figure 11.5.
four derivatives(const four& at, double torque, bool paper_dynamics) {
  using detail::power_2;
  const auto& [theta1, theta2, dtheta1, dtheta2] = at;
  const double cosine = std::cos(theta2);
  const double sine = std::sin(theta2);
  const double d1 =
      mass * (centre * centre) +
      mass * (link_length * link_length + centre * centre + 2 * link_length * centre * cosine) +
      inertia + inertia;
  const double d2 = mass * (centre * centre + link_length * centre * cosine) + inertia;
  const double phi2 = mass * centre * gravity * std::cos(theta1 + theta2 - pi / 2);
  const double phi1 = -mass * link_length * centre * power_2(dtheta2) * sine -
                      2 * mass * link_length * centre * dtheta2 * dtheta1 * sine +
                      (mass * centre + mass * link_length) * gravity * std::cos(theta1 - pi / 2) +
                      phi2;
  const double forced = torque + d2 / d1 * phi1;
  const double driven = paper_dynamics
                            ? forced - phi2
                            : forced - mass * link_length * centre * power_2(dtheta1) * sine - phi2;
  const double ddtheta2 = driven / (mass * (centre * centre) + inertia - power_2(d2) / d1);
  const double ddtheta1 = -(d2 * ddtheta2 + phi1) / d1;
  return {dtheta1, dtheta2, ddtheta1, ddtheta2};
}

four moved(const four& from, double by, const four& slope) {
  four to;
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i] + by * slope[i];
  return to;
}

/// Takes one step of the classical Runge-Kutta method.
four runge_kutta(const four& y, double torque, bool paper_dynamics) {
  const auto k1 = derivatives(y, torque, paper_dynamics);
  const auto k2 = derivatives(moved(y, tau / 2, k1), torque, paper_dynamics);
  const auto k3 = derivatives(moved(y, tau / 2, k2), torque, paper_dynamics);
  const auto k4 = derivatives(moved(y, tau, k3), torque, paper_dynamics);
  four sum;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i];
  return moved(y, tau / 6, sum);
}

double wrapped(double angle) {
  while (angle > pi) angle -= 2 * pi;
  while (angle < -pi) angle += 2 * pi;
  return angle;
}

// Cosine and sine as NumPy computes them for a float of at most pi/4: by polynomials with fused
// multiply-adds. The state is a float in Gymnasium until the first step, and so is the observation
// of a reset.
float float_cosine(float x) {
  const float square = x * x;
  float sum = std::fma(0x1.98e616p-16F, square, -0x1.6c06dcp-10F);
  sum = std::fma(sum, square, 0x1.55553cp-05F);
  sum = std::fma(sum, square, -0.5F);
  return std::fma(sum, square, 1.0F);
}
float float_sine(float x) {
  const float square = x * x;
  float sum = std::fma(0x1.7d3bbcp-19F, square, -0x1.a06bbap-13F);
  sum = std::fma(sum, square, 0x1.11119ap-07F);
  sum = std::fma(sum, square, -0x1.555556p-03F);
  return std::fma(sum * square, x, x);
}

}  // namespace

env_spec acrobot::spec() const {
  const auto fast_1 = static_cast<float>(speed_limit_1);
  const auto fast_2 = static_cast<float>(speed_limit_2);
  return {.id = "Acrobot-v1",
          .observation_space =
              spaces::box({-1, -1, -1, -1, -fast_1, -fast_2}, {1, 1, 1, 1, fast_1, fast_2}),
          .action_space = spaces::discrete(3),
          .max_episode_steps = 500,
          .reward_threshold = -100.0,
          .render_fps = 15};
}

void acrobot::reset(std::optional<std::uint64_t> seed, std::span<float> obs) {
  random_.begin_episode(seed);
  std::array<float, 4> drawn;
  for (auto& value : drawn) value = static_cast<float>(random_->uniform(-0.1, 0.1));
  std::copy(drawn.begin(), drawn.end(), state_.begin());
  for (std::size_t link = 0; link < 2; ++link) {
    obs[2 * link] = float_cosine(drawn[link]);
    obs[2 * link + 1] = float_sine(drawn[link]);
    obs[4 + link] = drawn[2 + link];
  }
}

// Equality in the last bit depends on the order of operations, so this file is compiled with
// -ffp-contract=off.
step_result acrobot::step(action_view action, std::span<float> obs) {
  const auto choice = action.discrete();
  if (choice < 0 || choice > 2)
    throw std::invalid_argument("Acrobot: expected action 0, 1 or 2, got " +
                                std::to_string(choice));
  state_ = runge_kutta(state_, static_cast<double>(choice - 1), options_.paper_dynamics);
  auto& [theta1, theta2, dtheta1, dtheta2] = state_;
  theta1 = wrapped(theta1);
  theta2 = wrapped(theta2);
  dtheta1 = std::clamp(dtheta1, -speed_limit_1, speed_limit_1);
  dtheta2 = std::clamp(dtheta2, -speed_limit_2, speed_limit_2);

  const double cosine1 = std::cos(theta1);
  obs[0] = static_cast<float>(cosine1);
  obs[1] = static_cast<float>(std::sin(theta1));
  obs[2] = static_cast<float>(std::cos(theta2));
  obs[3] = static_cast<float>(std::sin(theta2));
  obs[4] = static_cast<float>(dtheta1);
  obs[5] = static_cast<float>(dtheta2);
  const bool is_up = -cosine1 - std::cos(theta2 + theta1) > 1.0;
  return {.reward = is_up ? 0.0 : -1.0, .terminated = is_up};
}

bool acrobot::render(canvas& on) const {
  constexpr int side = 500;
  constexpr double centre_of_side = side / 2.0;
  constexpr double scale = side / (2 * (2 * link_length + 0.2));  // pixels a metre
  constexpr canvas::colour black{}, link_ink{0, 204, 204}, joint_ink{204, 204, 0};
  const canvas::point bar{centre_of_side, centre_of_side};
  const auto end_of_link = [](canvas::point from, double angle) {
    return canvas::point{from.x + std::sin(angle) * link_length * scale,
                         from.y + std::cos(angle) * link_length * scale};
  };
  const auto elbow = end_of_link(bar, state_[0]);
  const auto tip = end_of_link(elbow, state_[0] + state_[1]);
  on.begin(side, side, {255, 255, 255});
  const double goal = centre_of_side - link_length * scale;
  on.line({0, goal}, {side, goal}, 1, black);
  on.line(bar, elbow, 0.2 * scale, link_ink);
  on.line(elbow, tip, 0.2 * scale, link_ink);
  on.circle(bar, 0.1 * scale, joint_ink);
  on.circle(elbow, 0.1 * scale, joint_ink);
  return true;
}

bool acrobot::save(state_writer& to) const {
  detail::put_numbers(to, state_);
  random_.save(to);
  return true;
}

void acrobot::restore(const state_reader& from) {
  detail::get_numbers(from, "Acrobot", state_);
  random_.restore(from);
}

}  // namespace troupe

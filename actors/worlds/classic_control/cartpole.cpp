#include "actors/worlds/classic_control/cartpole.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "actors/environments/canvas.hpp"

namespace troupe {
namespace {

constexpr double gravity = 9.8;                                  // m/s^2
constexpr double cart_mass = 1.0;                                // kg
constexpr double pole_mass = 0.1;                                // kg
constexpr double total_mass = pole_mass + cart_mass;             // kg
constexpr double half_length = 0.5;                              // m, half the length of the pole
constexpr double pole_moment = pole_mass * half_length;          // kg m
constexpr double push = 10.0;                                    // N
constexpr double tau = 0.02;                                     // s
constexpr double x_limit = 2.4;                                  // m
constexpr double theta_limit = 12 * 2 * std::numbers::pi / 360;  // rad

}  // namespace

env_spec cartpole::spec() const {
  // The bounds are twice the limits, so that the observation that ends an episode lies inside.
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto x = static_cast<float>(2 * x_limit);
  const auto theta = static_cast<float>(2 * theta_limit);
  const bool is_v1 = options_.version == cartpole_options::version::v1;
  return {.id = is_v1 ? "CartPole-v1" : "CartPole-v0",
          .observation_space =
              spaces::box({-x, -infinity, -theta, -infinity}, {x, infinity, theta, infinity}),
          .action_space = spaces::discrete(2),
          .max_episode_steps = is_v1 ? 500 : 200,
          .reward_threshold = is_v1 ? 475.0 : 195.0,
          .render_fps = 50};
}

void cartpole::reset(std::optional<std::uint64_t> seed, std::span<float> obs) {
  random_.begin_episode(seed);
  for (auto& value : state_) value = random_->uniform(-0.05, 0.05);
  fallen_ = false;
  show(obs);
}

// Equality in the last bit depends on the order of operations and on the rounding of each one, so
// this file is compiled with -ffp-contract=off.
step_result cartpole::step(action_view action, std::span<float> obs) {
  const auto direction = action.discrete();
  if (direction != 0 && direction != 1)
    throw std::invalid_argument("CartPole: expected action 0 or 1, got " +
                                std::to_string(direction));
  auto& [x, x_dot, theta, theta_dot] = state_;
  const double force = direction == 1 ? push : -push;
  const double cosine = std::cos(theta);
  const double sine = std::sin(theta);

  const double temp = (force + pole_moment * (theta_dot * theta_dot) * sine) / total_mass;
  const double theta_acc = (gravity * sine - cosine * temp) /
                           (half_length * (4.0 / 3.0 - pole_mass * (cosine * cosine) / total_mass));
  const double x_acc = temp - pole_moment * theta_acc * cosine / total_mass;

  if (options_.semi_implicit_euler) {
    x_dot = x_dot + tau * x_acc;
    x = x + tau * x_dot;
    theta_dot = theta_dot + tau * theta_acc;
    theta = theta + tau * theta_dot;
  } else {
    x = x + tau * x_dot;
    x_dot = x_dot + tau * x_acc;
    theta = theta + tau * theta_dot;
    theta_dot = theta_dot + tau * theta_acc;
  }
  show(obs);
  const bool terminated =
      x < -x_limit || x > x_limit || theta < -theta_limit || theta > theta_limit;
  return {.reward = reward_of(terminated), .terminated = terminated};
}

// The colours and sizes of this picture and of the other ones in this folder are Gymnasium's.
bool cartpole::render(canvas& on) const {
  constexpr int width = 600, height = 400;
  constexpr double scale = width / (2 * x_limit);  // pixels a metre
  constexpr double track = 300, half_cart = 25, cart_top = 285, axle_up = 7.5;
  constexpr canvas::colour black{}, pole_ink{202, 152, 101}, axle_ink{129, 132, 203};
  const auto& [x, x_dot, theta, theta_dot] = state_;
  const canvas::point axle{width / 2.0 + x * scale, track - axle_up};
  const double length = 2 * half_length * scale;
  const canvas::point tip{axle.x + std::sin(theta) * length, axle.y - std::cos(theta) * length};
  on.begin(width, height, {255, 255, 255});
  on.line({0, track}, {width, track}, 1, black);
  on.rectangle({axle.x - half_cart, cart_top}, 2 * half_cart, 2 * (track - cart_top), black);
  on.line(axle, tip, 10, pole_ink);
  on.circle(axle, 5, axle_ink);
  return true;
}

bool cartpole::save(state_writer& to) const {
  detail::put_numbers(to, state_);
  to.put("fallen", fallen_);
  random_.save(to);
  return true;
}

void cartpole::restore(const state_reader& from) {
  detail::get_numbers(from, "CartPole", state_);
  from.get("fallen", fallen_);
  random_.restore(from);
}

double cartpole::reward_of(bool terminated) {
  const bool fell_before = fallen_;
  fallen_ = fallen_ || terminated;
  if (options_.sutton_barto_reward) return terminated ? -1.0 : 0.0;
  return terminated && fell_before ? 0.0 : 1.0;
}

void cartpole::show(std::span<float> obs) const {
  for (std::size_t i = 0; i < state_.size(); ++i) obs[i] = static_cast<float>(state_[i]);
}

void describe(options_schema<cartpole_options>& s) {
  s.field("sutton_barto_reward", &cartpole_options::sutton_barto_reward)
      .help("If true, a step gives 0 and the step that drops the pole gives -1.");
}

}  // namespace troupe

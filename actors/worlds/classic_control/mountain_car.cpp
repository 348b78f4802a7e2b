#include "actors/worlds/classic_control/mountain_car.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "actors/environments/canvas.hpp"

namespace troupe {
namespace {

constexpr double leftmost = -1.2, rightmost = 0.6;
constexpr double speed_limit = 0.07;
constexpr double goal = 0.5;
constexpr double push = 0.001;
constexpr double gravity = 0.0025;

}  // namespace

bool detail::draw_mountain_car(canvas& on, double position, double goal) {
  constexpr int width = 600, height = 400;
  constexpr double scale = width / (rightmost - leftmost);  // pixels a unit of position
  constexpr canvas::colour black{}, wheel_ink{128, 128, 128}, flag_ink{204, 204, 0};
  const auto on_hill = [](double at) {
    const double up = std::sin(3 * at) * 0.45 + 0.55;
    return canvas::point{(at - leftmost) * scale, height - up * scale};
  };
  on.begin(width, height, {255, 255, 255});
  constexpr int pieces = 100;
  for (int i = 0; i < pieces; ++i) {
    constexpr double piece = (rightmost - leftmost) / pieces;
    on.line(on_hill(leftmost + i * piece), on_hill(leftmost + (i + 1) * piece), 1, black);
  }

  // `along` and `up` are pixels along the hill's slope and away from it.
  const auto foot = on_hill(position);
  const double slope = std::cos(3 * position);  // the angle, as in Gymnasium, in rad
  const auto on_car = [&](double along, double up) {
    return canvas::point{foot.x + along * std::cos(slope) - up * std::sin(slope),
                         foot.y - along * std::sin(slope) - up * std::cos(slope)};
  };
  constexpr double clearance = 10, half_length = 20, car_height = 20;
  const std::array body{
      on_car(-half_length, clearance), on_car(-half_length, clearance + car_height),
      on_car(half_length, clearance + car_height), on_car(half_length, clearance)};
  on.polygon(body, black);
  for (const double wheel : {-10.0, 10.0}) on.circle(on_car(wheel, clearance), 8, wheel_ink);

  const auto pole = on_hill(goal);
  const double top = pole.y - 50;
  on.line(pole, {pole.x, top}, 1, black);
  const std::array flag{canvas::point{pole.x, top}, canvas::point{pole.x, top + 10},
                        canvas::point{pole.x + 25, top + 5}};
  on.polygon(flag, flag_ink);
  return true;
}

env_spec mountain_car::spec() const {
  const auto speed = static_cast<float>(speed_limit);
  return {.id = "MountainCar-v0",
          .observation_space = spaces::box({static_cast<float>(leftmost), -speed},
                                           {static_cast<float>(rightmost), speed}),
          .action_space = spaces::discrete(3),
          .max_episode_steps = 200,
          .reward_threshold = -110.0,
          .render_fps = 30};
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

bool mountain_car::render(canvas& on) const {
  return detail::draw_mountain_car(on, state_[0], goal);
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

#pragma once
// The environment MountainCar-v0.

#include <array>
#include <optional>

#include "actors/environments/env_state.hpp"
#include "actors/environments/environment.hpp"
#include "runtime/config/options_schema.hpp"

namespace troupe {

struct mountain_car_options {
  double goal_velocity = 0;  ///< The lowest velocity at which the goal counts.
};
void describe(options_schema<mountain_car_options>& s);

namespace detail {
/// Draws a car at `position`, the hills, and a flag at `goal`. Always returns true.
bool draw_mountain_car(canvas& on, double position, double goal);
}  // namespace detail

/// A car in a valley is too weak to drive straight up: Moore 1990, "Efficient memory-based learning
/// for robot control". Equal to Gymnasium's MountainCar-v0 bit for bit.
///
/// Observation [2]: position in [-1.2, 0.6], velocity in [-0.07, 0.07]. Actions: 0 pushes left, 1
/// doesn't push, 2 pushes right. Reward: -1 a step. The episode terminates at position 0.5.
class mountain_car final : public environment {
 public:
  mountain_car() = default;
  explicit mountain_car(const mountain_car_options& options) : options_(options) {}

  env_spec spec() const override;
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  /// Throws std::invalid_argument for an action other than 0, 1 and 2.
  step_result step(action_view action, std::span<float> obs) override;
  bool render(canvas& on) const override;

  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

  /// Returns position and velocity.
  const std::array<double, 2>& state() const { return state_; }

 private:
  void show(std::span<float> obs) const;

  mountain_car_options options_;
  std::array<double, 2> state_{};
  detail::env_random random_;
};

}  // namespace troupe

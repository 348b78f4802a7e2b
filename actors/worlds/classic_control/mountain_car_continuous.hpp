#pragma once
// The environment MountainCarContinuous-v0.

#include <array>
#include <optional>

#include "actors/environments/env_state.hpp"
#include "actors/environments/environment.hpp"
#include "actors/worlds/classic_control/mountain_car.hpp"

namespace troupe {

/// The mountain car with an engine that can be throttled. Equal to Gymnasium's
/// MountainCarContinuous-v0 with NumPy 2 bit for bit.
///
/// Observation [2]: position in [-1.2, 0.6], velocity in [-0.07, 0.07]. Action [1]: force between
/// -1 and 1. Reward: -0.1 force^2 a step, and 100 at the goal. The episode terminates at position
/// 0.45.
///
/// A force outside of its bounds moves the car like the bound does, but costs its own square. A
/// vector environment clips the force first.
class mountain_car_continuous final : public environment {
 public:
  mountain_car_continuous() = default;
  explicit mountain_car_continuous(const mountain_car_options& options) : options_(options) {}

  env_spec spec() const override;
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  step_result step(action_view action, std::span<float> obs) override;
  bool render(canvas& on) const override;

  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

  /// Returns position and velocity. As in Gymnasium, they are doubles after a reset and floats
  /// after a step.
  const std::array<double, 2>& state() const { return state_; }

 private:
  mountain_car_options options_;
  std::array<double, 2> state_{};
  bool is_single_ = false;  // whether the state's numbers are floats
  detail::env_random random_;
};

}  // namespace troupe

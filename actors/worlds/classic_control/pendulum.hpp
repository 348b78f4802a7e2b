#pragma once
// The environment Pendulum-v1.

#include <array>
#include <optional>

#include "actors/environments/env_state.hpp"
#include "actors/environments/environment.hpp"
#include "runtime/config/options_schema.hpp"

namespace troupe {

struct pendulum_options {
  double gravity = 10;  ///< m/s^2
};
void describe(options_schema<pendulum_options>& s);

/// A pendulum is to be swung up and held there by a motor too weak to lift it at once. Equal to
/// Gymnasium's Pendulum-v1 with NumPy 2 bit for bit.
///
/// Observation [3]: cosine and sine of the angle (0 means upright), angular velocity (rad/s), at
/// most 8. Action [1]: torque (N m) between -2 and 2, for 0.05 s. Reward: -(angle^2 + 0.1
/// velocity^2 + 0.001 torque^2) of the state before the step. The episode never terminates.
class pendulum final : public environment {
 public:
  pendulum() = default;
  explicit pendulum(const pendulum_options& options) : options_(options) {}

  env_spec spec() const override;
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  step_result step(action_view action, std::span<float> obs) override;
  bool render(canvas& on) const override;

  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

  /// Returns the angle (rad, not wrapped) and the angular velocity (rad/s).
  const std::array<double, 2>& state() const { return state_; }

 private:
  void show(std::span<float> obs);

  pendulum_options options_;
  std::array<double, 2> state_{};
  double sine_ = 0;  // the sine of the angle
  detail::env_random random_;
};

}  // namespace troupe

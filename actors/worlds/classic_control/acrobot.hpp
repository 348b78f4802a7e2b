#pragma once
// The environment Acrobot-v1.

#include <array>
#include <optional>

#include "actors/environments/env_state.hpp"
#include "actors/environments/environment.hpp"

namespace troupe {

struct acrobot_options {
  /// Uses the equations of Sutton 1996's paper, which lack a term, instead of those of Sutton and
  /// Barto.
  bool paper_dynamics = false;
};

/// Two links hang from a bar, with a motor in the elbow. The goal is to swing the tip up until it
/// is one link above the bar: Sutton 1996; the system of Sutton and Barto 2018, example 11.3. Equal
/// to Gymnasium's Acrobot-v1 bit for bit.
///
/// Observation [6]: cosine and sine of the first angle (0 means that the link hangs down), cosine
/// and sine of the second angle (relative to the first), both angular velocities (rad/s). Actions:
/// torque -1, 0, 1 N m for 0.2 s. Reward: -1 a step, and 0 for the step that reaches the height and
/// terminates.
class acrobot final : public environment {
 public:
  acrobot() = default;
  explicit acrobot(const acrobot_options& options) : options_(options) {}

  env_spec spec() const override;
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  /// Throws std::invalid_argument for an action other than 0, 1 and 2.
  step_result step(action_view action, std::span<float> obs) override;
  bool render(canvas& on) const override;

  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

  /// Returns both angles (rad) and both angular velocities (rad/s).
  const std::array<double, 4>& state() const { return state_; }

 private:
  acrobot_options options_;
  std::array<double, 4> state_{};
  detail::env_random random_;
};

}  // namespace troupe

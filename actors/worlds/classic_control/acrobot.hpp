#pragma once

#include <array>
#include <optional>

#include "actors/environments/env_state.hpp"
#include "actors/environments/environment.hpp"

namespace troupe {

struct acrobot_options {
  /// The equations of Sutton 1996's paper, which lack a term, instead of the book's.
  bool paper_dynamics = false;
};

/// Two links hanging from a bar, with a motor in the elbow, to be swung up until the tip is one
/// link above the bar: Sutton 1996; Sutton and Barto 2018, example 11.3's system. Equal to
/// Gymnasium's Acrobot-v1 bit for bit. Observation [6]: cosine and sine of the first angle (0:
/// down), of the second (relative to the first), both angular velocities (rad/s). Actions: torque
/// -1, 0, 1 N m for 0.2 s. Reward -1 a step, 0 for the one that reaches the height and terminates.
class acrobot final : public environment {
 public:
  acrobot() = default;
  explicit acrobot(const acrobot_options& options) : options_(options) {}

  env_spec spec() const override;
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  /// Throws std::invalid_argument for an action other than 0, 1 and 2.
  step_result step(action_view action, std::span<float> obs) override;

  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

  /// Both angles (rad) and angular velocities (rad/s).
  const std::array<double, 4>& state() const { return state_; }

 private:
  acrobot_options options_;
  std::array<double, 4> state_{};
  detail::env_random random_;
};

}  // namespace troupe

#pragma once
// The environments CartPole-v0 and CartPole-v1.

#include <array>
#include <optional>

#include "actors/environments/env_state.hpp"
#include "actors/environments/environment.hpp"
#include "runtime/config/options_schema.hpp"

namespace troupe {

struct cartpole_options {
  /// CartPole-v1 has 500 steps and a reward threshold of 475; CartPole-v0 has 200 and 195.
  enum class version { v0, v1 } version = version::v1;
  /// Gives reward 0 a step and -1 for the step that drops the pole, as in Sutton and Barto 2018,
  /// example 3.4. By default every step gives 1, the last one too.
  bool sutton_barto_reward = false;
  /// Moves positions with the new velocities instead of the old ones.
  bool semi_implicit_euler = false;
};
void describe(options_schema<cartpole_options>& s);

/// A pole is balanced on a cart: Barto, Sutton and Anderson 1983, with the equations of Florian
/// 2007, https://coneural.org/florian/papers/05_cart_pole.pdf. Equal to Gymnasium's CartPole bit
/// for bit.
///
/// Observation [4]: position (m), velocity (m/s), angle (rad), angular velocity (rad/s). Actions: 0
/// pushes left, 1 pushes right, with 10 N for 0.02 s. The episode terminates beyond 2.4 m or 12
/// degrees.
class cartpole final : public environment {
 public:
  cartpole() = default;
  explicit cartpole(const cartpole_options& options) : options_(options) {}

  env_spec spec() const override;
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  /// Throws std::invalid_argument for an action other than 0 and 1. A step after the one that
  /// terminated has reward 0; a vector environment never takes such a step.
  step_result step(action_view action, std::span<float> obs) override;
  bool render(canvas& on) const override;

  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

  /// Returns the state of the last observation in double precision, in the same order and units.
  const std::array<double, 4>& state() const { return state_; }

 private:
  double reward_of(bool terminated);
  void show(std::span<float> obs) const;

  cartpole_options options_;
  std::array<double, 4> state_{};
  bool fallen_ = false;
  detail::env_random random_;
};

}  // namespace troupe

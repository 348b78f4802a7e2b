#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "actors/environments/env_state.hpp"
#include "actors/environments/environment.hpp"

namespace troupe {

struct lunar_lander_options {
  bool continuous = false;        ///< Throttles instead of four choices.
  double gravity = -10;           ///< m/s^2, between -12 and 0, neither of which it may be.
  bool enable_wind = false;       ///< Until a leg touches the ground.
  double wind_power = 15;         ///< N, the largest force; 0 to 20.
  double turbulence_power = 1.5;  ///< N m, the largest torque; 0 to 2.
};

/// A lander to be set down between two flags: Gymnasium's LunarLander-v3, by Oleg Klimov, and, with
/// `continuous`, LunarLanderContinuous-v3, on Box2D 2.4. The seeds, the terrain and every formula
/// are Gymnasium's, but its physics is Box2D 2.3, so trajectories part within a few steps and agree
/// in distribution only.
///
/// Observation [8]: position and velocity (x and y of each, scaled, the pad at the origin), angle
/// (rad), angular velocity (scaled), and whether the left and the right leg touch the ground.
/// Actions: 0 none, 1 left engine, 2 main engine, 3 right engine; continuous [2]: main engine (off
/// below 0, else half to full power) and side engines (off between -0.5 and 0.5).
/// Reward: what the step gained in nearness, slowness, uprightness and legs on the ground, less the
/// fuel; 100 for coming to rest, -100 for a crash or for leaving the screen, which terminate.
class lunar_lander final : public environment {
 public:
  lunar_lander() : lunar_lander(lunar_lander_options{}) {}
  /// Throws std::invalid_argument for an option outside of its range.
  explicit lunar_lander(const lunar_lander_options& options);
  lunar_lander(lunar_lander&&) noexcept;
  lunar_lander& operator=(lunar_lander&&) noexcept;
  ~lunar_lander() override;

  env_spec spec() const override;
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  /// Throws std::invalid_argument for an action other than 0 to 3.
  step_result step(action_view action, std::span<float> obs) override;

  /// Bodies and contacts can't be saved, so the generator at the reset and all actions since are;
  /// restoring flies the episode again up to there, which takes a few milliseconds.
  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

 private:
  struct world;
  /// Main engine in [0, 1]; side engines in [-1, 1], negative: the left one.
  struct thrust {
    double main = 0, side = 0;
  };

  void begin(std::span<float> obs);
  step_result advance(thrust engines, std::span<float> obs);
  void blow();
  void fire(thrust engines);
  double shaping(const std::array<double, 8>& seen) const;

  lunar_lander_options options_;
  detail::env_random random_;
  detail::env_random random_at_reset_;
  std::unique_ptr<world> world_;  // none before the first reset
  std::int64_t wind_index_ = 0, torque_index_ = 0;
  std::optional<double> shaping_before_;
  std::vector<double> flown_;  // main and side engine of every step since the reset
};

}  // namespace troupe

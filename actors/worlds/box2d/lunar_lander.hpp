#pragma once
// The environments LunarLander-v3 and LunarLanderContinuous-v3.

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "actors/environments/env_state.hpp"
#include "actors/environments/environment.hpp"
#include "runtime/config/options_schema.hpp"

namespace troupe {

struct lunar_lander_options {
  bool continuous = false;        ///< Throttles instead of four discrete actions.
  double gravity = -10;           ///< The gravity in m/s^2; > -12 and < 0.
  bool enable_wind = false;       ///< Wind blows until a leg touches the ground.
  double wind_power = 15;         ///< The largest force of the wind in N; 0 to 20.
  double turbulence_power = 1.5;  ///< The largest torque of the wind in N m; 0 to 2.
};
void describe(options_schema<lunar_lander_options>& s);

/// A lander is to be set down between two flags: Gymnasium's LunarLander-v3, by Oleg Klimov, and,
/// with `continuous`, LunarLanderContinuous-v3. The seeds, the terrain and every formula are
/// Gymnasium's. The physics is Box2D 2.4 where Gymnasium has Box2D 2.3, so trajectories diverge
/// within a few steps and agree in distribution only.
///
/// Observation [8]: position and velocity (x and y of each, scaled, with the pad at the origin),
/// angle (rad), angular velocity (scaled), and whether the left and the right leg touch the ground.
/// Actions: 0 none, 1 left engine, 2 main engine, 3 right engine. Continuous actions [2]: main
/// engine (off below 0, else half to full power) and side engines (off between -0.5 and 0.5).
/// Reward: the gain of the step in nearness, slowness, uprightness and legs on the ground, minus
/// the fuel. Coming to rest gives 100; a crash or leaving the screen gives -100. All three
/// terminate.
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

  bool render(canvas& on) const override;

  /// Saves the random generator at the reset and all actions since, because bodies and contacts
  /// can't be saved. `restore` repeats the episode from these, which takes a few milliseconds.
  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

 private:
  struct world;
  /// The power of the main engine in [0, 1], and of the side engines in [-1, 1], where a negative
  /// number fires the left one.
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
  std::unique_ptr<world> world_;  // null before the first reset
  std::int64_t wind_index_ = 0, torque_index_ = 0;
  std::optional<double> shaping_before_;
  std::vector<double> flown_;  // the main and side power of every step since the reset
};

}  // namespace troupe

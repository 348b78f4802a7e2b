#pragma once
// The slow environment that loops are compared on.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "actors/environments/environment.hpp"

namespace troupe {

/// What an update takes: of it arithmetic needs a part, and what is left is waited, as for a
/// device. Against some 0.94 s of the longest of 32 episodes that is 30 %.
inline constexpr auto slow_update_time = std::chrono::milliseconds(400);

/// Shows one of four symbols, and rewards the action of that number. Each of its episodes draws how
/// long all of its steps take: 5 to 50 ms, log-uniformly.
class slow_symbols final : public environment {
 public:
  static constexpr std::int64_t episode_steps = 20;
  static constexpr std::int64_t symbols = 4;

  /// The expected length in seconds of the longest of so many episodes; of one, the mean.
  static double longest(std::size_t episodes) {
    constexpr int parts = 10'000;  // of 0 to 1, over which the draw of the longest is summed
    double sum = 0;
    for (int i = 0; i < parts; ++i) {
      const double draw = (i + 0.5) / parts;
      sum += shortest.count() * std::pow(10.0, draw) * double(episodes) *
             std::pow(draw, double(episodes) - 1) / parts;
    }
    return sum * double(episode_steps);
  }

  env_spec spec() const override {
    return {.id = "SlowSymbols-v0",
            .observation_space = spaces::box(0.0F, 1.0F, {symbols}),
            .action_space = spaces::discrete(symbols),
            .max_episode_steps = episode_steps};
  }

  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    if (seed) random_.seed(*seed);
    step_time_ = shortest * std::pow(10.0, std::uniform_real_distribution<>()(random_));
    show(obs);
  }

  step_result step(action_view action, std::span<float> obs) override {
    std::this_thread::sleep_for(step_time_);
    const bool right = action.discrete() == symbol_;
    show(obs);
    return {.reward = right ? 1.0 : 0.0};
  }

 private:
  static constexpr std::chrono::duration<double> shortest{0.005};  // of a step

  void show(std::span<float> obs) {
    symbol_ = std::uniform_int_distribution<std::int64_t>(0, symbols - 1)(random_);
    std::ranges::fill(obs, 0.0F);
    obs[static_cast<std::size_t>(symbol_)] = 1;
  }

  std::mt19937_64 random_;
  std::chrono::duration<double> step_time_{};
  std::int64_t symbol_ = 0;
};

/// The most that a loop in which nobody waits can gain over one that begins `at_once` episodes
/// together, waits for the longest of them and then for the update, which takes `update` seconds.
/// It follows from the server's times alone.
inline double async_ceiling(std::size_t at_once, double update) {
  return (slow_symbols::longest(at_once) + update) / std::max(slow_symbols::longest(1), update);
}

/// The part of that gain that comes from not waiting for the longest: over a loop that trains while
/// it waits for the longest of the next episodes.
inline double barrier_part(std::size_t at_once, double update) {
  return std::max(slow_symbols::longest(at_once), update) /
         std::max(slow_symbols::longest(1), update);
}

}  // namespace troupe

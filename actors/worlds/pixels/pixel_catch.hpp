#pragma once
// The environments Catch-v0 and CatchSmall-v0.

#include <cstdint>
#include <optional>
#include <string>

#include "actors/environments/env_state.hpp"
#include "actors/environments/environment.hpp"

namespace troupe {

struct pixel_catch_options {
  std::string id = "Catch-v0";
  std::int64_t pixels = 84;  ///< The height and width of the picture in pixels, >= 10.
};

/// A ball falls down a board of 10 rows and 5 columns, one cell a step, and the paddle in the
/// lowest row must be under it at the end: bsuite's Catch, Osband et al. 2020,
/// https://arxiv.org/abs/1908.03568, whose observation is the board itself. Here the observation is
/// an image [1, pixels, pixels] of bytes, 255 where the ball and the paddle are.
///
/// Actions: 0 moves left, 1 doesn't move, 2 moves right. The last of the 9 steps terminates the
/// episode with a reward of 1 for a catch and -1 for a miss. All other steps give 0.
class pixel_catch final : public environment {
 public:
  pixel_catch() = default;
  /// Throws std::invalid_argument for fewer than 10 pixels.
  explicit pixel_catch(const pixel_catch_options& options);

  env_spec spec() const override;
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  /// Throws std::invalid_argument for an action other than 0, 1 and 2.
  step_result step(action_view action, std::span<float> obs) override;
  bool render(canvas& on) const override;

  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

 private:
  void show(std::span<float> obs) const;

  pixel_catch_options options_;
  std::int64_t ball_row_ = 0, ball_column_ = 0, paddle_column_ = 0;
  detail::env_random random_;
};

}  // namespace troupe

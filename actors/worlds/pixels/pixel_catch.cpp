#include "actors/worlds/pixels/pixel_catch.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "actors/environments/canvas.hpp"

namespace troupe {
namespace {

constexpr std::int64_t rows = 10, columns = 5;

}  // namespace

pixel_catch::pixel_catch(const pixel_catch_options& options) : options_(options) {
  if (options.pixels < rows)
    throw std::invalid_argument(options.id + ": expected at least 10 pixels, got " +
                                std::to_string(options.pixels));
}

env_spec pixel_catch::spec() const {
  return {.id = options_.id,
          .observation_space = spaces::image(1, options_.pixels, options_.pixels),
          .action_space = spaces::discrete(3),
          .reward_threshold = 0.95,
          .render_fps = 5};
}

void pixel_catch::reset(std::optional<std::uint64_t> seed, std::span<float> obs) {
  random_.begin_episode(seed);
  ball_row_ = 0;
  ball_column_ = random_->integers(0, columns);
  paddle_column_ = columns / 2;
  show(obs);
}

step_result pixel_catch::step(action_view action, std::span<float> obs) {
  const auto choice = action.discrete();
  if (choice < 0 || choice > 2)
    throw std::invalid_argument("Catch: expected action 0, 1 or 2, got " + std::to_string(choice));
  if (ball_row_ == rows - 1) throw std::logic_error("Catch: the ball is down, reset comes first");
  paddle_column_ = std::clamp<std::int64_t>(paddle_column_ + choice - 1, 0, columns - 1);
  ++ball_row_;
  show(obs);
  if (ball_row_ < rows - 1) return {};
  return {.reward = ball_column_ == paddle_column_ ? 1.0 : -1.0, .terminated = true};
}

bool pixel_catch::render(canvas& on) const {
  constexpr int cell = 40;
  constexpr canvas::colour black{}, white{255, 255, 255};
  on.begin(cell * static_cast<int>(columns), cell * static_cast<int>(rows), black);
  const auto paint = [&](std::int64_t row, std::int64_t column) {
    const canvas::point corner{static_cast<double>(column) * cell, static_cast<double>(row) * cell};
    on.rectangle(corner, cell, cell, white);
  };
  paint(ball_row_, ball_column_);
  paint(rows - 1, paddle_column_);
  return true;
}

bool pixel_catch::save(state_writer& to) const {
  const std::array state{static_cast<double>(ball_row_), static_cast<double>(ball_column_),
                         static_cast<double>(paddle_column_)};
  detail::put_numbers(to, state);
  random_.save(to);
  return true;
}

void pixel_catch::restore(const state_reader& from) {
  std::array<double, 3> state{};
  detail::get_numbers(from, "Catch", state);
  ball_row_ = static_cast<std::int64_t>(state[0]);
  ball_column_ = static_cast<std::int64_t>(state[1]);
  paddle_column_ = static_cast<std::int64_t>(state[2]);
  random_.restore(from);
}

void pixel_catch::show(std::span<float> obs) const {
  std::ranges::fill(obs, 0.0F);
  const auto size = options_.pixels;
  const auto paint = [&](std::int64_t row, std::int64_t column) {
    for (auto y = row * size / rows; y < (row + 1) * size / rows; ++y)
      for (auto x = column * size / columns; x < (column + 1) * size / columns; ++x)
        obs[static_cast<std::size_t>(y * size + x)] = 255.0F;
  };
  paint(ball_row_, ball_column_);
  paint(rows - 1, paddle_column_);
}

}  // namespace troupe

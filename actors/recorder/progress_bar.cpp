#include "actors/recorder/progress_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "actors/recorder/axis_ticks.hpp"

namespace troupe {
namespace {

constexpr std::chrono::duration<double> redraw_interval{0.1};
constexpr int bar_width = 24;

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::min(std::round(seconds), 3.6e8));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

double fraction_of(const progress_state& state) {
  return std::clamp(static_cast<double>(state.step) / static_cast<double>(state.total_steps), 0.0,
                    1.0);
}

std::int64_t tenth_of(const progress_state& state) {
  return static_cast<std::int64_t>(fraction_of(state) * 10 + 1e-9);
}

}  // namespace

std::string progress_line(const progress_state& state) {
  const double seconds = state.elapsed.count();
  const double rate = seconds > 0 ? static_cast<double>(state.step) / seconds : 0;
  const auto step = short_number(static_cast<double>(state.step));
  std::string line;
  if (state.total_steps > 0) {
    const double fraction = fraction_of(state);
    const int filled = static_cast<int>(fraction * bar_width);
    line = fmt::format("{:3}% |{:#<{}}{: <{}}| {}/{} steps", static_cast<int>(fraction * 100), "",
                       filled, "", bar_width - filled, step,
                       short_number(static_cast<double>(state.total_steps)));
  } else {
    line = step + " steps";
  }
  line += fmt::format(", {} steps/s", short_number(rate));
  if (state.total_steps > state.step && rate > 0)
    line += ", ETA " + duration_text(static_cast<double>(state.total_steps - state.step) / rate);
  if (std::isfinite(state.mean_return)) line += fmt::format(", return {:.1f}", state.mean_return);
  return line;
}

void progress_bar::skip_to(const progress_state& state) {
  if (state.total_steps > 0) next_tenth_ = std::max(next_tenth_, tenth_of(state) + 1);
}

void progress_bar::update(const progress_state& state) {
  if (finished_) return;
  if (is_terminal_) {
    if (state.elapsed < next_draw_) return;
    next_draw_ = state.elapsed + redraw_interval;
  } else {
    if (state.total_steps <= 0) return;
    const auto tenth = tenth_of(state);
    // The last tenth is finish's line.
    if (tenth < next_tenth_ || tenth >= 10) return;
    next_tenth_ = tenth + 1;
  }
  draw(state);
}

void progress_bar::finish(const progress_state& state) {
  if (finished_) return;
  finished_ = true;
  draw(state);
  if (is_terminal_) *out_ << '\n' << std::flush;
}

void progress_bar::clear() {
  if (drawn_width_ == 0) return;
  *out_ << '\r' << std::string(drawn_width_, ' ') << '\r' << std::flush;
  drawn_width_ = 0;
  next_draw_ = {};
}

void progress_bar::draw(const progress_state& state) {
  auto line = progress_line(state);
  if (!is_terminal_) {
    *out_ << line << '\n' << std::flush;
    return;
  }
  const auto width = line.size();
  if (width < drawn_width_) line.append(drawn_width_ - width, ' ');
  *out_ << '\r' << line << std::flush;
  drawn_width_ = width;
}

}  // namespace troupe

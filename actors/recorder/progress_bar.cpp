#include "actors/recorder/progress_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "actors/recorder/axis_ticks.hpp"
#include "actors/recorder/score_text.hpp"

namespace troupe {
namespace {

constexpr std::chrono::duration<double> redraw_interval{0.1};
constexpr std::chrono::duration<double> line_interval{5};
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

}  // namespace

std::string progress_line(const progress_state& state, bool with_bar) {
  const double seconds = state.elapsed.count();
  const double rate = seconds > 0 ? static_cast<double>(state.step) / seconds : 0;
  const auto step = short_number(static_cast<double>(state.step));
  std::string line;
  if (state.total_steps > 0) {
    const double fraction = fraction_of(state);
    const int filled = static_cast<int>(fraction * bar_width);
    line = fmt::format("{:3}% ", static_cast<int>(fraction * 100));
    if (with_bar) line += fmt::format("|{:#<{}}{: <{}}| ", "", filled, "", bar_width - filled);
    line += step + '/' + short_number(static_cast<double>(state.total_steps));
  } else {
    line = step;
  }
  const auto& labels = state.labels;
  line += fmt::format(" {}, {} {}/s", labels.steps, short_number(rate), labels.steps);
  if (state.total_steps > state.step && rate > 0)
    line += ", ETA " + duration_text(static_cast<double>(state.total_steps - state.step) / rate);
  if (std::isfinite(state.mean_return))
    line += fmt::format(", {} {}", labels.score, score_text(state.mean_return));
  return line;
}

progress_bar::progress_bar(std::ostream& out, bool is_terminal)
    : out_(&out),
      is_terminal_(is_terminal),
      next_draw_(is_terminal ? redraw_interval.zero() : line_interval) {}

void progress_bar::skip_to(const progress_state& state) {
  if (!is_terminal_) next_draw_ = state.elapsed + line_interval;
}

void progress_bar::update(const progress_state& state) {
  if (finished_ || state.elapsed < next_draw_) return;
  next_draw_ = state.elapsed + (is_terminal_ ? redraw_interval : line_interval);
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
  auto line = progress_line(state, is_terminal_);
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

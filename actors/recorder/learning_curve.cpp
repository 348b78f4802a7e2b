#include "actors/recorder/learning_curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "actors/recorder/curve_canvas.hpp"
#include "actors/recorder/file_io.hpp"

namespace troupe {
namespace {

using detail::colour;
using detail::curve_canvas;

constexpr colour ink{0.13, 0.15, 0.19};
constexpr colour soft_ink{0.42, 0.45, 0.50};
constexpr colour grid{0.91, 0.92, 0.94};
constexpr colour blue{0.12, 0.38, 0.78};
constexpr colour orange{0.93, 0.47, 0.06};
constexpr colour green{0.10, 0.52, 0.33};
constexpr std::size_t dots_max = 1500;  // More raw points than this are drawn as a band.
constexpr int band_bins = 120;
constexpr std::size_t line_points_max = 3000;
constexpr std::size_t evaluations_max = 60;  // More whiskers than this cover the curve.

colour faint(colour full, double alpha) { return {full.red, full.green, full.blue, alpha}; }

// The bound is far beyond any return, and far enough from overflow for the arithmetic below.
bool drawable(double value) { return std::abs(value) < 1e100; }

std::vector<curve_point> drawable(std::vector<curve_point> points) {
  std::erase_if(points, [](const curve_point& point) {
    return !drawable(point.step) || !drawable(point.value);
  });
  return points;
}

/// Returns every k-th evaluation, the best and the last one, at most evaluations_max in all.
std::vector<curve_evaluation> readable(const std::vector<curve_evaluation>& all) {
  if (all.size() <= evaluations_max) return all;
  const auto best = std::ranges::max_element(all, {}, &curve_evaluation::mean);
  const std::size_t stride = (all.size() - 1) / (evaluations_max - 2) + 1;
  std::vector<curve_evaluation> some;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool stays = i % stride == 0 || &all[i] == &*best || i + 1 == all.size();
    if (stays) some.push_back(all[i]);
  }
  return some;
}

/// Returns the value below which a share `q` of the values lies. `values` is reordered. REQUIRES:
/// `values` is not empty.
double quantile(std::vector<double>& values, double q) {
  const auto at = values.begin() +
                  static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

struct range {
  double low = 0;
  double high = 1;
};

range value_range(const learning_curve& curve) {
  std::vector<double> values;
  // The range ignores a few extreme episodes, so that they don't flatten the rest.
  if (!curve.episodes.empty()) {
    std::vector<double> raw;
    for (const auto& point : curve.episodes) raw.push_back(point.value);
    values = {quantile(raw, 0.01), quantile(raw, 0.99)};
  }
  for (const auto& point : curve.means) values.push_back(point.value);
  for (const auto& evaluation : curve.evaluations) {
    const double whisker = drawable(evaluation.std) ? evaluation.std : 0;
    values.insert(values.end(), {evaluation.mean - whisker, evaluation.mean + whisker});
  }
  if (curve.threshold) values.push_back(*curve.threshold);
  if (values.empty()) return {};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {*low > 0 && *low < 0.3 * *high ? 0 : *low, *high};
}

double last_step(const learning_curve& curve) {
  double last = 0;
  for (const auto& point : curve.episodes) last = std::max(last, point.step);
  for (const auto& point : curve.means) last = std::max(last, point.step);
  for (const auto& evaluation : curve.evaluations) last = std::max(last, evaluation.step);
  return last > 0 ? last : 1;
}

void draw_axes(curve_canvas& canvas, const learning_curve& curve, const axis_ticks& x,
               const axis_ticks& y, double step_max, double value_max) {
  for (const double value : y.values) {
    if (value > value_max) continue;
    const double at = std::round(canvas.y(value)) + 0.5;
    canvas.segment(curve_canvas::left, at, curve_canvas::right, at, 1, grid);
    canvas.text(curve_canvas::left - 10, at + 4, short_number(value, 6), 12, soft_ink,
                curve_canvas::align::right);
  }
  const double base = std::round(curve_canvas::bottom) + 0.5;
  canvas.segment(curve_canvas::left, base, curve_canvas::right, base, 1, soft_ink);
  for (const double step : x.values) {
    if (step > step_max * (1 + 1e-9)) continue;
    const double at = std::round(canvas.x(step)) + 0.5;
    canvas.segment(at, base, at, base + 5, 1, soft_ink);
    canvas.text(at, base + 20, short_number(step, 6), 12, soft_ink, curve_canvas::align::centre);
  }
  const double middle = (curve_canvas::left + curve_canvas::right) / 2;
  canvas.text(middle, curve_canvas::height - 16, curve.x_label, 13, ink,
              curve_canvas::align::centre);
  canvas.text_upwards(24, (curve_canvas::top + curve_canvas::bottom) / 2, curve.y_label, 13, ink);
}

void draw_band(curve_canvas& canvas, const std::vector<curve_point>& episodes, double step_max) {
  std::vector<std::vector<double>> bins(band_bins);
  for (const auto& point : episodes) {
    const auto bin =
        std::clamp(static_cast<int>(point.step / step_max * band_bins), 0, band_bins - 1);
    bins[static_cast<std::size_t>(bin)].push_back(point.value);
  }
  std::vector<curve_point> low, high;
  for (int i = 0; i < band_bins; ++i) {
    auto& values = bins[static_cast<std::size_t>(i)];
    if (values.empty()) continue;
    const double step = (i + 0.5) * step_max / band_bins;
    low.push_back({step, quantile(values, 0.1)});
    high.push_back({step, quantile(values, 0.9)});
  }
  canvas.band(low, high, faint(blue, 0.16));
}

void draw_data(curve_canvas& canvas, const learning_curve& curve, double step_max) {
  canvas.clip_to_plot();
  if (curve.episodes.size() > dots_max) {
    draw_band(canvas, curve.episodes, step_max);
  } else {
    for (const auto& point : curve.episodes)
      canvas.disc(canvas.x(point.step), canvas.y(point.value), 2.2, faint(blue, 0.28));
  }
  canvas.line(thinned(curve.means, line_points_max), 2.4, blue);
  if (curve.means.size() == 1)
    canvas.disc(canvas.x(curve.means[0].step), canvas.y(curve.means[0].value), 3, blue);
  for (const auto& evaluation : curve.evaluations) {
    const double x = canvas.x(evaluation.step);
    if (drawable(evaluation.std) && evaluation.std > 0)
      canvas.segment(x, canvas.y(evaluation.mean - evaluation.std), x,
                     canvas.y(evaluation.mean + evaluation.std), 1.4, faint(orange, 0.55));
    canvas.disc(x, canvas.y(evaluation.mean), 4.2, orange, 1.4);
  }
  canvas.unclip();
}

void draw_threshold(curve_canvas& canvas, double threshold) {
  const double at = std::round(canvas.y(threshold)) + 0.5;
  canvas.segment(curve_canvas::left, at, curve_canvas::right, at, 1.3, green, true);
}

/// Draws the legend in one row below the title: a sign and its meaning for everything that is
/// drawn.
void draw_legend(curve_canvas& canvas, const learning_curve& curve) {
  constexpr double y = 58;
  double x = curve_canvas::left;
  auto label = [&](const std::string& text) {
    canvas.text(x + 30, y + 4, text, 12, soft_ink);
    x += 30 + canvas.text_width(text, 12) + 26;
  };
  if (!curve.means.empty()) {
    canvas.segment(x, y, x + 22, y, 2.4, blue);
    label(mean_label(curve));
  }
  if (curve.episodes.size() > dots_max) {
    canvas.box(x, y - 5, 22, 10, faint(blue, 0.2));
    label("10th to 90th percentile");
  } else if (!curve.episodes.empty()) {
    for (int i = 0; i < 3; ++i)
      canvas.disc(x + 4 + 7 * i, y + (i == 1 ? -2 : 1), 2.4, faint(blue, 0.35));
    label("one " + curve.dot);
  }
  if (!curve.evaluations.empty()) {
    canvas.segment(x + 11, y - 8, x + 11, y + 8, 1.4, faint(orange, 0.55));
    canvas.disc(x + 11, y, 4.2, orange, 1.4);
    label(evaluation_label);
  }
  if (curve.threshold) {
    canvas.segment(x, y, x + 22, y, 1.3, green, true);
    label(threshold_label(*curve.threshold));
  }
}

}  // namespace

learning_curve cleaned(const learning_curve& curve) {
  auto clean = curve;
  clean.episodes = drawable(curve.episodes);
  clean.means =
      curve.means.empty() ? moving_mean(clean.episodes, curve.mean_window) : drawable(curve.means);
  std::erase_if(clean.evaluations, [](const curve_evaluation& evaluation) {
    return !drawable(evaluation.step) || !drawable(evaluation.mean);
  });
  clean.evaluations = readable(clean.evaluations);
  if (clean.threshold && !drawable(*clean.threshold)) clean.threshold.reset();
  return clean;
}

std::vector<curve_point> thinned(const std::vector<curve_point>& points, std::size_t max) {
  const std::size_t stride = points.size() / max + 1;
  std::vector<curve_point> result;
  for (std::size_t i = 0; i < points.size(); i += stride) result.push_back(points[i]);
  if (!points.empty() && (points.size() - 1) % stride != 0) result.push_back(points.back());
  return result;
}

std::string mean_label(const learning_curve& curve) {
  return fmt::format("mean of the last {} {}s", curve.mean_window, curve.dot);
}

std::string threshold_label(double threshold) {
  return fmt::format("solved at {}", short_number(threshold, 6));
}

std::vector<curve_point> moving_mean(const std::vector<curve_point>& points, std::size_t window) {
  std::vector<curve_point> means;
  means.reserve(points.size());
  window = std::max<std::size_t>(window, 1);
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    sum += points[i].value;
    if (i >= window) sum -= points[i - window].value;
    means.push_back({points[i].step, sum / static_cast<double>(std::min(i + 1, window))});
  }
  return means;
}

std::string render_learning_curve(const learning_curve& curve) {
  const auto clean = cleaned(curve);
  const auto values = value_range(clean);
  const auto y = make_axis_ticks(values.low, values.high, 6);
  double step_max = last_step(clean);
  const auto x = make_axis_ticks(0, step_max, 8);
  // The axis keeps its last tick if the last episode ends a little before it, such as before 100k.
  if (x.last < step_max * 1.015) step_max = std::max(step_max, x.last);

  // There is some room above the highest value, because many returns lie exactly there.
  const double value_max =
      values.high > values.low ? values.high + 0.035 * (values.high - y.first) : y.last;
  curve_canvas canvas(0, step_max, y.first, value_max);
  canvas.text(curve_canvas::left, 33, clean.title, 18, ink, curve_canvas::align::left, true);
  draw_legend(canvas, clean);
  draw_axes(canvas, clean, x, y, step_max, value_max);
  draw_data(canvas, clean, step_max);
  if (clean.threshold) draw_threshold(canvas, *clean.threshold);
  if (clean.means.empty() && clean.evaluations.empty())
    canvas.text((curve_canvas::left + curve_canvas::right) / 2,
                (curve_canvas::top + curve_canvas::bottom) / 2,
                fmt::format("no {} has ended yet", clean.dot), 14, soft_ink,
                curve_canvas::align::centre);
  return canvas.png();
}

void draw_learning_curve(const learning_curve& curve, const std::filesystem::path& path) {
  write_file_atomically(path, render_learning_curve(curve));
}

}  // namespace troupe

#include "actors/recorder/run_board.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "actors/recorder/axis_ticks.hpp"

namespace troupe {
namespace {

constexpr std::size_t points_max = 400;

/// Returns points as JSON: [[step, value], ...].
nlohmann::json pairs_of(const std::vector<curve_point>& points) {
  auto pairs = nlohmann::json::array();
  for (const auto& point : thinned(points, points_max)) pairs.push_back({point.step, point.value});
  return pairs;
}

}  // namespace

std::string run_board(const learning_curve& curve, const progress_state& progress) {
  const auto clean = cleaned(curve);
  auto marks = nlohmann::json::array();
  for (const auto& e : clean.evaluations) {
    marks.push_back({e.step, e.mean, e.std});  // A deviation that is NaN becomes null.
  }
  nlohmann::ordered_json board{{"title", clean.title},
                               {"x_label", clean.x_label},
                               {"y_label", clean.y_label},
                               {"now", progress.step},
                               {"goal", progress.total_steps},
                               {"seconds", progress.elapsed.count()},
                               {"dots", pairs_of(clean.episodes)},
                               {"dots_label", "one " + clean.dot},
                               {"line", pairs_of(clean.means)},
                               {"line_label", mean_label(clean)},
                               {"marks", std::move(marks)},
                               {"marks_label", evaluation_label}};
  if (clean.threshold) {
    board["level"] = *clean.threshold;
    board["level_label"] = threshold_label(*clean.threshold);
  }
  return board.dump();
}

}  // namespace troupe

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

struct curve_point {
  double step = 0;   ///< Environment steps.
  double value = 0;  ///< Return of one episode, or the mean of several.
};

struct curve_evaluation {
  double step = 0;
  double mean = 0;
  double std = 0;  ///< Over the evaluation's episodes; drawn as a whisker.
};

/// What a learning curve shows. Points that are not finite, or beyond 1e100,
/// are left out.
struct learning_curve {
  std::string title;
  std::string x_label = "environment steps";
  std::string y_label = "episode return";
  std::string dot = "episode";        ///< What one of the episodes is called.
  std::vector<curve_point> episodes;  ///< By step; drawn faint, as a band where many.
  std::vector<curve_point> means;     ///< By step; empty: moving_mean(episodes, mean_window).
  std::vector<curve_evaluation> evaluations;  ///< Drawn as points.
  std::optional<double> threshold;            ///< The return that counts as solved: a dashed line.
  std::size_t mean_window = 100;              ///< Episodes; named in the legend.
};

/// The curve without what is left out of a picture, and with its means.
learning_curve cleaned(const learning_curve& curve);

/// Every k-th point and the last, so that there are about `max` at most.
std::vector<curve_point> thinned(const std::vector<curve_point>& points, std::size_t max);

// What a legend says.
std::string mean_label(const learning_curve& curve);
inline constexpr const char* evaluation_label = "evaluation, ± std";
std::string threshold_label(double threshold);

/// Each point's value replaced by the mean over it and the up to `window` - 1 points before it.
std::vector<curve_point> moving_mean(const std::vector<curve_point>& points, std::size_t window);

/// The picture as a PNG file's bytes: 900x520 on white. Throws std::runtime_error where cairo
/// fails.
std::string render_learning_curve(const learning_curve& curve);

/// Renders and replaces the file at `path` as a whole. Throws std::system_error where it can not.
void draw_learning_curve(const learning_curve& curve, const std::filesystem::path& path);

}  // namespace troupe

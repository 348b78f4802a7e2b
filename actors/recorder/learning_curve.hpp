#pragma once
// The learning curve of a run as a picture. The recorder draws it.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

struct curve_point {
  double step = 0;   ///< The number of environment steps.
  double value = 0;  ///< The return of one episode, or the mean of several.
};

struct curve_evaluation {
  double step = 0;
  double mean = 0;
  double std = 0;  ///< The standard deviation over the evaluation's episodes, drawn as a whisker.
};

/// The content of a learning curve. Points that are not finite or beyond 1e100 are left out.
struct learning_curve {
  std::string title;
  std::string x_label = "environment steps";
  std::string y_label = "episode return";
  std::string dot = "episode";  ///< The name of an episode in the texts of the picture.
  /// The episodes ordered by step. They are drawn as faint dots, or as a band if there are many.
  std::vector<curve_point> episodes;
  /// The means ordered by step. Empty means moving_mean(episodes, mean_window).
  std::vector<curve_point> means;
  /// The evaluations, drawn as points. Of many, some are drawn, with the best and the last one.
  std::vector<curve_evaluation> evaluations;
  /// The return that counts as solved, drawn as a dashed line.
  std::optional<double> threshold;
  /// The number of episodes of a mean, shown in the legend.
  std::size_t mean_window = 100;
};

/// Returns the curve without the points that are left out, and with its means.
learning_curve cleaned(const learning_curve& curve);

/// Returns every k-th point and the last one, with k such that there are at most about `max`.
std::vector<curve_point> thinned(const std::vector<curve_point>& points, std::size_t max);

// The texts of the legend.
std::string mean_label(const learning_curve& curve);
inline constexpr const char* evaluation_label = "evaluation, ± std";
std::string threshold_label(double threshold);

/// Returns the points with each value replaced by the mean over it and up to `window` - 1 points
/// before it.
std::vector<curve_point> moving_mean(const std::vector<curve_point>& points, std::size_t window);

/// Returns the picture, 900 x 520 pixels on white, as the bytes of a PNG file. Throws
/// std::runtime_error if cairo fails.
std::string render_learning_curve(const learning_curve& curve);

/// Renders the curve and replaces the file at `path` atomically. Throws std::system_error if it
/// can't be written.
void draw_learning_curve(const learning_curve& curve, const std::filesystem::path& path);

}  // namespace troupe

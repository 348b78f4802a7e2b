#pragma once
// The episodes of a run in bounded memory, for the recorder.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "actors/recorder/learning_curve.hpp"

namespace troupe {

/// The episodes of a run as the screen and the learning curve need them, in bounded memory: the
/// exact mean over the last `window` episodes, and at most `points_max` points of the curve. When
/// there are more points, every second one is dropped, and from then on only every second episode
/// is kept.
class episode_history {
 public:
  explicit episode_history(std::size_t window = 100, std::size_t points_max = 20000)
      : window_(window), points_max_(points_max) {}

  /// `step` is the number of environment steps at the episode's end, `info` are numbers of the
  /// episode by name.
  void add(double step, double episode_return, double length,
           std::map<std::string, double> info = {});

  bool empty() const { return last_.empty(); }
  std::int64_t count() const { return count_; }
  std::size_t window() const { return window_; }

  /// The return of the first `window` episodes, right after the last of them, if it was the same
  /// for all; nullopt before and after that.
  std::optional<double> only_return() const;
  /// The mean over the last `window` episodes, or over all if there are fewer; NaN if there are
  /// none.
  double mean_return() const;
  double mean_length() const;
  /// The mean of each number over those of the last `window` episodes that have it.
  std::map<std::string, double> mean_info() const;

  const std::vector<curve_point>& episodes() const { return episodes_; }
  /// The mean return at each of the kept episodes, over all episodes of its window.
  const std::vector<curve_point>& means() const { return means_; }

  auto wire_members() {
    return std::tie(window_, points_max_, count_, stride_, last_, episodes_, means_);
  }

 private:
  struct entry {
    double episode_return;
    double length;
    std::map<std::string, double> info;
  };

  double mean(double entry::* field) const;
  void drop_every_second();

  std::size_t window_;
  std::size_t points_max_;
  std::int64_t count_ = 0;
  std::int64_t stride_ = 1;  ///< One episode in `stride_` is kept as a point.
  std::vector<entry> last_;  ///< The last episodes, oldest first.
  std::vector<curve_point> episodes_;
  std::vector<curve_point> means_;
};

}  // namespace troupe

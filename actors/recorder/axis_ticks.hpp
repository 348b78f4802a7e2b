#pragma once

#include <string>
#include <vector>

namespace troupe {

/// The marks of an axis: equally spaced at 1, 2, 2.5 or 5 times a power of ten.
struct axis_ticks {
  double first = 0;  ///< <= the range's low end.
  double last = 1;   ///< >= the range's high end.
  std::vector<double> values;
};

/// About `count` ticks that enclose [low, high]. An empty range is widened; low and high must be
/// finite, and low <= high.
axis_ticks make_axis_ticks(double low, double high, int count);

/// A number in few characters: 0, 950, 1.5k, 40k, 2.5M, 0.05; `digits` significant digits at most.
std::string short_number(double value, int digits = 3);

}  // namespace troupe

#pragma once
// Ticks and number labels of the axes of learning curves.

#include <string>
#include <vector>

namespace troupe {

/// The ticks of an axis, equally spaced at 1, 2, 2.5 or 5 times a power of ten.
struct axis_ticks {
  double first = 0;  ///< At or below the low end of the range.
  double last = 1;   ///< At or above the high end of the range.
  std::vector<double> values;
};

/// Returns about `count` ticks that enclose [low, high]. An empty range is widened. REQUIRES: low
/// <= high, both finite.
axis_ticks make_axis_ticks(double low, double high, int count);

/// Returns a number in few characters, with at most `digits` significant digits: 0, 950, 1.5k, 40k,
/// 2.5M, 0.05.
std::string short_number(double value, int digits = 3);

}  // namespace troupe

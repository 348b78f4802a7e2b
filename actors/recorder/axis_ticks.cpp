#include "actors/recorder/axis_ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace troupe {

axis_ticks make_axis_ticks(double low, double high, int count) {
  if (high - low <= 1e-12 * std::max({std::abs(low), std::abs(high), 1e-12})) {
    const double half = std::max(std::abs(low) * 0.1, 0.5);
    low -= half;
    high += half;
  }
  const double rough = (high - low) / std::max(count, 1);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power < rough * (1 - 1e-9)) continue;
    step = factor * power;
    break;
  }
  // Ticks are products and not sums, so that zero is exactly zero.
  const double begin = std::floor(low / step + 1e-9);
  const double end = std::ceil(high / step - 1e-9);
  axis_ticks ticks{begin * step, end * step, {}};
  for (double i = begin; i <= end; ++i) ticks.values.push_back(i == 0 ? 0.0 : i * step);
  return ticks;
}

std::string short_number(double value, int digits) {
  const double size = std::abs(value);
  // The unit is chosen for the rounded number: 999.9 with three digits is 1k.
  const double round_up = 1 - 0.5 * std::pow(10.0, -digits);
  if (size >= 1e9 * round_up) return fmt::format("{:.{}g}G", value / 1e9, digits);
  if (size >= 1e6 * round_up) return fmt::format("{:.{}g}M", value / 1e6, digits);
  if (size >= 1e3 * round_up) return fmt::format("{:.{}g}k", value / 1e3, digits);
  return fmt::format("{:.{}g}", value, digits);
}

}  // namespace troupe

#pragma once
// The form in which returns, rewards and shares are printed for people.

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace troupe {

/// A return, a reward or a share with at least three significant digits and one decimal, such as
/// 500.0, -12.3, 0.934 or 0.0123. It is in scientific notation if it is tiny or huge: 2.50e-06.
inline std::string score_text(double value) {
  if (!std::isfinite(value)) return std::to_string(value);
  if (value == 0) return "0.0";
  std::array<char, 64> text{};
  // The exponent is that of the rounded number: 9.999 is 10.0.
  std::snprintf(text.data(), text.size(), "%.2e", value);
  const int exponent = std::atoi(std::strchr(text.data(), 'e') + 1);
  if (exponent < -4 || exponent > 14) return text.data();
  std::snprintf(text.data(), text.size(), "%.*f", exponent < 1 ? 2 - exponent : 1, value);
  return text.data();
}

}  // namespace troupe

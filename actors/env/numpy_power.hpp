#pragma once

#include <cmath>

namespace troupe::detail {

/// x ** 2 as Python and NumPy compute it for one number: by the C library's `pow`, whose error
/// reaches 0.52 units in the last place. A compiler that saw the exponent would make x * x of it,
/// which now and then differs in the last bit.
inline double power_2(double x) {
  static const volatile double two = 2;
  return std::pow(x, two);
}
inline float power_2(float x) {
  static const volatile float two = 2;
  return std::pow(x, two);
}

}  // namespace troupe::detail

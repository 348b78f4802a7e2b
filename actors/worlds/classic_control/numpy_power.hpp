#pragma once

#include <cmath>

namespace troupe::detail {

/// x ** 2 by the C library. A compiler that saw the exponent would make x * x of it.
inline double library_power_2(double x) {
  static const volatile double two = 2;
  return std::pow(x, two);
}

/// x ** 2 as Python and NumPy compute it for one number: by the C library's `pow`, which now and
/// then differs from x * x in the last bit. The GNU C library's error stays below 0.51 units in the
/// last place here, so only a product that lies within 0.05 units of the middle between two doubles
/// is asked of it: one in ten.
inline double power_2(double x) {
  const double product = x * x;
  // What the product lacks, exactly: Dekker 1971, https://doi.org/10.1007/BF01397083, section 5.
  const double shifted = 0x1.0000002p27 * x;
  const double high = shifted - (shifted - x);
  const double low = x - high;
  const double lack = ((high * high - product) + 2 * high * low) + low * low;
  if (product > 1e-280 && product + 1.1 * lack == product) [[likely]]
    return product;
  return library_power_2(x);
}
inline float power_2(float x) {
  static const volatile float two = 2;
  return std::pow(x, two);
}

}  // namespace troupe::detail

#pragma once
// Squares that are equal to NumPy's in the last bit, for environments that equal Gymnasium's.

#include <cmath>

namespace troupe::detail {

/// Returns x ** 2 as the C library's `pow` computes it. The exponent is volatile because a compiler
/// that saw it would compute x * x.
inline double library_power_2(double x) {
  static const volatile double two = 2;
  return std::pow(x, two);
}

/// Returns x ** 2 as Python and NumPy compute it for one number: by the C library's `pow`, whose
/// result sometimes differs from x * x in the last bit. The GNU C library's error stays below 0.51
/// units in the last place here. So `pow` is called only if the product lies within 0.05 units of
/// the middle between two doubles, which is the case for one number in ten.
inline double power_2(double x) {
  const double product = x * x;
  // The exact rounding error of the product: Dekker 1971, https://doi.org/10.1007/BF01397083,
  // section 5.
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

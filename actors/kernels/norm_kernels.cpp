#include "actors/kernels/norm_kernels.hpp"

#include <cmath>

#include "actors/kernels/cpu_clones.hpp"
#include "actors/kernels/dense_kernels.hpp"

namespace troupe::detail {
namespace {

using index = std::ptrdiff_t;

// Sums are in double precision, in eight parts that are added in the same order for any row.
TROUPE_CPU_CLONES float normalise_row(const float* x, index columns, float* to) {
  constexpr index parts = 8;
  const auto sum_of_all = [=](const auto& term) {
    double sums[parts] = {};
    const index whole = columns / parts * parts;
    for (index k = 0; k < whole; k += parts) {
      for (index i = 0; i < parts; ++i) sums[i] += term(x[k + i]);
    }
    for (index k = whole; k < columns; ++k) sums[k - whole] += term(x[k]);
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  };
  const double count = static_cast<double>(columns);
  const double mean = sum_of_all([](float each) { return static_cast<double>(each); }) / count;
  const double variance =
      sum_of_all([mean](float each) { return (each - mean) * (each - mean); }) / count;
  const double inverse = 1.0 / std::sqrt(variance + layer_norm_eps);
  for (index k = 0; k < columns; ++k) to[k] = static_cast<float>((x[k] - mean) * inverse);
  return static_cast<float>(inverse);
}

TROUPE_CPU_CLONES void scale_all(index rows, index columns, const float* x, const float* scale,
                                 const float* shift, float* y) {
  for (index row = 0; row < rows; ++row, x += columns, y += columns) {
    for (index k = 0; k < columns; ++k) y[k] = scale[k] * x[k] + shift[k];
  }
}

}  // namespace

void normalise_rows(const float* x, index rows, index columns, float* normalised,
                    float* inverse_deviation) {
  for (index row = 0; row < rows; ++row, x += columns, normalised += columns) {
    const float inverse = normalise_row(x, columns, normalised);
    if (inverse_deviation) inverse_deviation[row] = inverse;
  }
}

void scale_rows(const float* x, const float* scale, const float* shift, activation kind, index rows,
                index columns, float* y) {
  scale_all(rows, columns, x, scale, shift, y);
  activate(kind, rows * columns, y);
}

}  // namespace troupe::detail

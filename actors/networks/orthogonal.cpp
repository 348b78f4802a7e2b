#include "actors/networks/orthogonal.hpp"

#include <cmath>
#include <cstddef>

namespace troupe::detail {

std::vector<double> orthonormal_rows(action_random& random, int count, int length) {
  std::vector<double> rows(static_cast<std::size_t>(count) * length);
  for (auto& value : rows) value = random.normal();
  for (int r = 0; r < count; ++r) {
    double* row = &rows[static_cast<std::size_t>(r) * length];
    for (int before = 0; before < r; ++before) {
      const double* other = &rows[static_cast<std::size_t>(before) * length];
      double dot = 0.0;
      for (int i = 0; i < length; ++i) dot += row[i] * other[i];
      for (int i = 0; i < length; ++i) row[i] -= dot * other[i];
    }
    double norm = 0.0;
    for (int i = 0; i < length; ++i) norm += row[i] * row[i];
    norm = std::sqrt(norm);
    for (int i = 0; i < length; ++i) row[i] /= norm;
  }
  return rows;
}

void write_orthogonal(action_random& random, int in, int out, double gain, float* weight) {
  const bool wide = in >= out;
  const auto rows = wide ? orthonormal_rows(random, out, in) : orthonormal_rows(random, in, out);
  for (int i = 0; i < in; ++i) {
    for (int o = 0; o < out; ++o) {
      const std::size_t from = wide ? std::size_t(o) * in + i : std::size_t(i) * out + o;
      weight[std::size_t(i) * out + o] = static_cast<float>(gain * rows[from]);
    }
  }
}

}  // namespace troupe::detail

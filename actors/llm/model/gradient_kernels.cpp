#include "actors/llm/model/gradient_kernels.hpp"

#include <cmath>

#include "actors/kernels/activation_kernels.hpp"
#include "actors/kernels/lanes.hpp"

namespace troupe::llm {

using index = std::ptrdiff_t;
using detail::lane_count;
using detail::lanes;
using detail::lanes_at;

// With f = 1 / sqrt(mean(x^2) + eps) and g = dy * weight: dx = f (g - x f^2 mean(g x)).
TROUPE_CPU_CLONES void rms_norm_gradient(const float* x, const float* dy, index rows, index size,
                                         const float* weight, float eps, float* __restrict dx,
                                         float* __restrict dweight) {
  for (index row = 0; row < rows; ++row, x += size, dy += size, dx += size) {
    lanes squares{}, products{};
    index i = 0;
    for (; i + lane_count <= size; i += lane_count) {
      const lanes v = lanes_at(x + i);
      squares += v * v;
      products += v * lanes_at(dy + i) * lanes_at(weight + i);
    }
    float square = detail::sum_of(squares), product = detail::sum_of(products);
    for (; i < size; ++i) {
      square += x[i] * x[i];
      product += x[i] * dy[i] * weight[i];
    }
    const float factor = 1.0f / std::sqrt(square / static_cast<float>(size) + eps);
    const float back = factor * factor * product / static_cast<float>(size);
    for (index j = 0; j < size; ++j) {
      dx[j] = factor * (dy[j] * weight[j] - x[j] * back);
      dweight[j] += dy[j] * x[j] * factor;
    }
  }
}

TROUPE_CPU_CLONES void gate_values(const float* gate, const float* up, index count,
                                   float* __restrict y) {
  for (index i = 0; i < count; ++i) y[i] = detail::silu_of(gate[i]) * up[i];
}

// silu' = s + x s (1 - s), with s the sigmoid.
TROUPE_CPU_CLONES void gate_gradient(const float* gate, const float* up, const float* dy,
                                     index count, float* dgate, float* __restrict dup) {
  for (index i = 0; i < count; ++i) {
    const float g = gate[i], d = dy[i];
    const float s = 1.0f / (1.0f + detail::exp_of(-g));
    dup[i] = d * g * s;
    dgate[i] = d * up[i] * (s + g * s * (1.0f - s));
  }
}

}  // namespace troupe::llm

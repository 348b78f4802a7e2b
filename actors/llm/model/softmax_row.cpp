#include "actors/llm/model/softmax_row.hpp"

#include <algorithm>

#include "actors/kernels/activation_kernels.hpp"
#include "actors/kernels/lanes.hpp"

namespace troupe::llm {
namespace {

using index = std::ptrdiff_t;
using detail::lane_count;
using detail::lanes;
using detail::lanes_at;

// The number of weights that are summed in float. These partial sums are added in double.
constexpr index float_sum = 256;

TROUPE_CPU_CLONES float highest(const float* x, index count) {
  float most = x[0];
  index i = 0;
  if (count >= lane_count) {
    lanes high = lanes_at(x);
    for (; i + lane_count <= count; i += lane_count) {
      const lanes here = lanes_at(x + i);
      high = here > high ? here : high;
    }
    for (index l = 0; l < lane_count; ++l) most = std::max(most, high[l]);
  }
  for (; i < count; ++i) most = std::max(most, x[i]);
  return most;
}

TROUPE_CPU_CLONES double exponentials(const float* x, index count, float most, float factor,
                                      float* weights) {
  double sum = 0;
  for (index begin = 0; begin < count; begin += float_sum) {
    const index end = std::min(begin + float_sum, count);
    for (index i = begin; i < end; ++i) weights[i] = detail::exp_of((x[i] - most) * factor);
    lanes part{};
    index i = begin;
    for (; i + lane_count <= end; i += lane_count) part += lanes_at(weights + i);
    sum += static_cast<double>(detail::sum_of(part));
    for (; i < end; ++i) sum += static_cast<double>(weights[i]);
  }
  return sum;
}

}  // namespace

softmax_row softmax_of(std::span<const float> logits, double temperature,
                       std::span<float> weights) {
  const auto count = static_cast<index>(logits.size());
  const float most = highest(logits.data(), count);
  return {.most = most,
          .sum = exponentials(logits.data(), count, most, static_cast<float>(1.0 / temperature),
                              weights.data()),
          .temperature = temperature};
}

}  // namespace troupe::llm

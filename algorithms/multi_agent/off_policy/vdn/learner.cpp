#include "actors/torch/torch.hpp"

#include "algorithms/multi_agent/off_policy/vdn/learner.hpp"

#include <algorithm>

namespace troupe {

void sum_mixer::mix(const float*, const float*, const float* q, int rows, float* total) {
  for (int row = 0; row < rows; ++row) {
    total[row] = 0.0f;
    for (std::size_t agent = 0; agent < agents_; ++agent) total[row] += *q++;
  }
}

void sum_mixer::backward(const float*, const float*, const float*, int rows, const float* d_total,
                         float* d_q, float*) {
  for (int row = 0; row < rows; ++row) d_q = std::fill_n(d_q, agents_, d_total[row]);
}

at::Tensor sum_mixer::mix(const at::Tensor&, const at::Tensor&, const at::Tensor& q) const {
  return q.sum(1);
}

vdn_learner::vdn_learner(const network_shape& shape, const joint_q_options& options,
                         std::uint64_t seed, const agents_section&)
    : joint_q_learner("vdn", shape, options, seed,
                      std::vector<std::uint8_t>(shape.policies.size(), 1),
                      std::make_unique<sum_mixer>(shape)) {}

}  // namespace troupe

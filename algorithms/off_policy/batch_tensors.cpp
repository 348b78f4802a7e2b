#include "actors/torch.hpp"

#include "algorithms/off_policy/batch_tensors.hpp"

namespace troupe::detail {

at::Tensor tensor_of(const float* data, at::IntArrayRef sizes, at::ScalarType type) {
  return at::from_blob(const_cast<float*>(data), sizes, at::kFloat).to(type);
}

}  // namespace troupe::detail

#pragma once
// A model's weights as one block of P floats, in the order of for_each_weight. weight_store keeps
// such blocks, optimisers update them, and generators and scorers take them.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "actors/llm/model/model_config.hpp"
#include "actors/llm/model/model_weights.hpp"

namespace troupe::llm {

/// The number of weights P.
std::int64_t weight_count(const model_config& config);

/// The weights as views of `flat`, which share its memory. Throws std::invalid_argument unless
/// `flat` is a contiguous float tensor [P].
model_weights weights_in(const model_config& config, const at::Tensor& flat);

/// A new block [P] with copies of the weights. Throws std::invalid_argument that names a weight
/// that is missing or has another shape.
at::Tensor flatten_weights(const model_config& config, const model_weights& weights);

/// Weights that are trained. Only one thread at a time may use them.
struct trained_weights {
  at::Tensor parameters;  ///< float [P]
  at::Tensor gradient;    ///< float [P]: backward() adds to it; the owner sets it to 0
  model_weights weights;  ///< views of `parameters` whose gradients are views of `gradient`
};

/// Takes over `parameters` without a copy, with a gradient of 0. Throws like weights_in.
trained_weights train_weights(const model_config& config, at::Tensor parameters);

/// Throws std::invalid_argument, which begins with `what`, unless `flat` is a contiguous float
/// tensor [count].
void check_flat(const at::Tensor& flat, std::int64_t count, const std::string& what);

/// A view of the same numbers as a leaf of the autograd graph, whose gradient is added to
/// `gradient`.
at::Tensor trained_view(const at::Tensor& view, const at::Tensor& gradient);

}  // namespace troupe::llm

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "actors/llm/model/model_config.hpp"
#include "actors/llm/model/model_weights.hpp"

/// A model's weights as one block of P floats, one after the other in for_each_weight's order: what
/// weight_store keeps as a version, what an optimiser walks over and what a generator is given.
namespace troupe::llm {

/// P.
std::int64_t weight_count(const model_config& config);

/// The weights as views of `flat`: what is written to one is seen in the other. Throws
/// std::invalid_argument for what is no contiguous float [P].
model_weights weights_in(const model_config& config, const at::Tensor& flat);

/// A new block [P] with copies of these. Throws std::invalid_argument naming a weight that is
/// missing or of another shape.
at::Tensor flatten_weights(const model_config& config, const model_weights& weights);

/// Weights that are trained. One thread at a time.
struct trained_weights {
  at::Tensor parameters;  ///< float [P]
  at::Tensor gradient;    ///< float [P]: backward() adds to it; the owner sets it to 0
  model_weights weights;  ///< views of `parameters` whose gradients are views of `gradient`
};

/// Takes over `parameters`, without a copy; the gradient is 0. Throws as weights_in.
trained_weights train_weights(const model_config& config, at::Tensor parameters);

/// Throws std::invalid_argument, which begins with `what`, for what is no contiguous float [count].
void check_flat(const at::Tensor& flat, std::int64_t count, const std::string& what);

/// The same numbers as a leaf of the graph, whose gradient is added to `gradient`.
at::Tensor trained_view(const at::Tensor& view, const at::Tensor& gradient);

}  // namespace troupe::llm

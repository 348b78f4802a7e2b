#pragma once
// Gradient checkpointing of one layer, for packed_forward.

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace troupe::llm {

/// Gradient checkpointing (Chen et al. 2016, arXiv:1604.06174): a part of a computation that keeps
/// only its inputs for the gradient. `compute` is called once without gradients and, in the
/// backward pass, once more with them. It gets the inputs, which must all be defined, and must not
/// depend on anything else that has a gradient.
at::Tensor recomputed(std::function<at::Tensor(const std::vector<at::Tensor>&)> compute,
                      const std::vector<at::Tensor>& inputs);

}  // namespace troupe::llm

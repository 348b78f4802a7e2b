#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace troupe::llm {

/// A part of a computation of which nothing but its inputs is kept for the gradient: `compute` is
/// called once without gradients and, in backward, once more with them. It is given the inputs, all
/// of them defined, and must depend on nothing else that has a gradient. Chen et al. 2016,
/// arXiv:1604.06174.
at::Tensor recomputed(std::function<at::Tensor(const std::vector<at::Tensor>&)> compute,
                      const std::vector<at::Tensor>& inputs);

}  // namespace troupe::llm

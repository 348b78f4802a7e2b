#pragma once

#include <ATen/core/Tensor.h>

/// A decoder's arithmetic between its products, differentiable: each is one pass over its rows, and
/// keeps for the gradient what it was given. Float tensors.
namespace troupe::llm {

/// x / sqrt(mean(x^2) + eps) * weight, over the last dimension. Zhang and Sennrich 2019,
/// arXiv:1910.07467, equation 4.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);

/// x [T, heads, head_dim] turned by its tokens' angles, of which cosine and sine are [T, head_dim /
/// 2]; the halves of a head are the parts of complex numbers. Su et al. 2021, arXiv:2104.09864.
at::Tensor rotated(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine);

/// silu(gate) * up: Shazeer 2020, arXiv:2002.05202, equation 5.
at::Tensor gated(const at::Tensor& gate, const at::Tensor& up);

}  // namespace troupe::llm

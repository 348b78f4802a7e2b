#pragma once

#include <ATen/core/Tensor.h>

/// A decoder's arithmetic, differentiable: values have the bits that decoder::forward gives them,
/// so that the probability of a token is the same for who drew it and who is trained on it. Each
/// keeps for the gradient what it was given. Float tensors.
namespace troupe::llm {

/// x / sqrt(mean(x^2) + eps) * weight, over the last dimension. Zhang and Sennrich 2019,
/// arXiv:1910.07467, equation 4.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);

/// x [T, heads, head_dim] turned by its tokens' angles, of which cosine and sine are [T, head_dim /
/// 2]; the halves of a head are the parts of complex numbers. Su et al. 2021, arXiv:2104.09864.
at::Tensor rotated(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine);

/// x W^T, [T, outputs], of x [T, inputs] and W [outputs, inputs]: packed_matrix's sums.
at::Tensor row_products(const at::Tensor& x, const at::Tensor& weight);
/// The same, without gradients, of contiguous tensors.
at::Tensor products_of(const at::Tensor& x, const at::Tensor& weight);

/// silu(gate) * up: Shazeer 2020, arXiv:2002.05202, equation 5.
at::Tensor gated(const at::Tensor& gate, const at::Tensor& up);

}  // namespace troupe::llm

#pragma once
// The arithmetic of a decoder as differentiable functions of float tensors. Their values have the
// same bits as those of decoder::forward, so that the trainer computes the probability with which
// the generator has drawn a token. Each function keeps its inputs for the gradient.

#include <ATen/core/Tensor.h>

namespace troupe::llm {

/// RMSNorm: x / sqrt(mean(x^2) + eps) * weight, over the last dimension. Zhang and Sennrich 2019,
/// arXiv:1910.07467, equation 4.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);

/// Rotary embeddings: x [T, heads, head_dim] rotated by the angles of its tokens, whose cosines and
/// sines are [T, head_dim / 2]. The halves of a head are the real and the imaginary parts. Su et
/// al. 2021, arXiv:2104.09864.
at::Tensor rotated(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine);

/// x W^T [T, outputs] for x [T, inputs] and W [outputs, inputs], summed as packed_matrix sums.
at::Tensor row_products(const at::Tensor& x, const at::Tensor& weight);
/// row_products without gradients, for contiguous tensors.
at::Tensor products_of(const at::Tensor& x, const at::Tensor& weight);

/// silu(gate) * up: Shazeer 2020, arXiv:2002.05202, equation 5.
at::Tensor gated(const at::Tensor& gate, const at::Tensor& up);

}  // namespace troupe::llm

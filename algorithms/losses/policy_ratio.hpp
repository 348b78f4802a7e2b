#pragma once
// Probability ratios between two policies, per token and per answer. grpo_loss.hpp uses them.

#include <ATen/core/Tensor.h>

#include "algorithms/losses/token_rows.hpp"

namespace troupe {

/// Logarithms of ratios are clamped to +- this before exp, so that no float overflows. A ratio
/// beyond the limit has no gradient.
inline constexpr double log_ratio_limit = 20.0;

/// log(pi_theta / pi_anchor) of each token [T], clamped to the limit. `anchor` gets no gradient.
at::Tensor log_ratio(const at::Tensor& log_prob, const at::Tensor& anchor);

/// pi_theta / pi_anchor of each token [T]: Schulman et al. 2017, arXiv:1707.06347, equation 6.
at::Tensor token_ratio(const at::Tensor& log_prob, const at::Tensor& anchor);

/// GSPO's ratio of each answer, repeated for its tokens [T]: exp of the mean log-ratio of the
/// tokens, which is the length-th root of the answer's probability ratio. Zheng et al. 2025,
/// arXiv:2507.18071, equation 7.
at::Tensor sequence_ratio(const at::Tensor& log_prob, const at::Tensor& anchor,
                          const token_rows& rows);

}  // namespace troupe

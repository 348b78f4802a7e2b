#pragma once
// Estimates of the KL divergence from a reference policy, per token and per answer. GRPO's loss and
// rewards use them.

#include <ATen/core/Tensor.h>

#include "algorithms/losses/token_rows.hpp"

namespace troupe {

/// Estimates of KL(pi, pi_ref) from one token, with d = log pi_ref - log pi (Schulman 2020,
/// http://joschu.net/blog/kl-approx.html). An estimate's gradient is not always that of KL(pi,
/// pi_ref).
enum class kl_kind {
  k1,  ///< -d: unbiased, can be negative; as a loss its mean gradient is 0, so it is for rewards
  k2,  ///< d^2 / 2: biased, >= 0; its gradient is that of KL(pi, pi_ref)
  k3,  ///< e^d - d - 1: unbiased, >= 0; its gradient is that of KL(pi_ref, pi)
};

/// The estimate of each token [T]. d is clamped to policy_ratio.hpp's log_ratio_limit. `reference`
/// gets no gradient.
at::Tensor kl_estimate(kl_kind kind, const at::Tensor& log_prob, const at::Tensor& reference);

/// The sum of the k1 of each answer's tokens [N], without gradient. If the KL penalty is part of
/// the reward, this sum times a coefficient is subtracted from the answer's reward (Ouyang et al.
/// 2022, arXiv:2203.02155, equation 2).
at::Tensor kl_of_answers(const at::Tensor& log_prob, const at::Tensor& reference,
                         const token_rows& rows);

}  // namespace troupe

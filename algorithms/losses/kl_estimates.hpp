#pragma once
#include <ATen/core/Tensor.h>

#include "algorithms/losses/token_rows.hpp"

namespace troupe {

/// Estimates of KL(pi, pi_ref) from one token each, by d = log pi_ref - log pi (Schulman 2020,
/// http://joschu.net/blog/kl-approx.html). Their gradients differ from their values:
enum class kl_kind {
  k1,  ///< -d: unbiased, can be negative; as a loss its mean gradient is 0, so it is for rewards
  k2,  ///< d^2 / 2: biased, >= 0; its gradient is that of KL(pi, pi_ref)
  k3,  ///< e^d - d - 1: unbiased, >= 0; its gradient is that of KL(pi_ref, pi)
};

/// Of each token [T]; d is held within policy_ratio.hpp's log_ratio_limit. No gradient by
/// `reference`.
at::Tensor kl_estimate(kl_kind kind, const at::Tensor& log_prob, const at::Tensor& reference);

/// Of each answer [N], the sum of its tokens' k1: what is subtracted from its reward, times a
/// coefficient, where the penalty is in the reward (Ouyang et al. 2022, arXiv:2203.02155,
/// equation 2). No gradient.
at::Tensor kl_of_answers(const at::Tensor& log_prob, const at::Tensor& reference,
                         const token_rows& rows);

}  // namespace troupe

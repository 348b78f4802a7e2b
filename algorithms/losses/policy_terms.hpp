#pragma once
// The terms of policy-gradient losses for each token [T], which are minimised. Advantages [T] are
// constants without gradient.

#include <ATen/core/Tensor.h>

#include <optional>

namespace troupe {

struct clip_options {
  double low = 0.2;   ///< The ratio is clipped below at 1 - low.
  double high = 0.2;  ///< The ratio is clipped above at 1 + high; DAPO has high > low.
  /// For A < 0, the loss of a token is at most this times -A, however large its ratio. None means
  /// no such bound.
  std::optional<double> dual;
};

/// The clipped term -min(r A, clip(r, 1 - low, 1 + high) A) of Schulman et al. 2017,
/// arXiv:1707.06347, equation 7, with the two bounds of Yu et al. 2025, arXiv:2503.14476, equation
/// 10. With `dual` c and A < 0 it is -max(min(r A, clip(r) A), c A): "dual-clip PPO" of Ye et al.
/// 2020, arXiv:1912.09729.
at::Tensor clipped_term(const at::Tensor& ratio, const at::Tensor& advantage,
                        const clip_options& clip);

/// CISPO's term -min(r, ratio_max) A log pi. The ratio has no gradient, so every token keeps its
/// gradient. MiniMax 2025, arXiv:2506.13585, equations 4 and 5, with the upper bound only.
at::Tensor cispo_term(const at::Tensor& log_prob, const at::Tensor& ratio,
                      const at::Tensor& advantage, double ratio_max);

/// REINFORCE's term -A log pi: Williams 1992, https://doi.org/10.1007/BF00992696.
at::Tensor reinforce_term(const at::Tensor& log_prob, const at::Tensor& advantage);

/// The shares of tokens that have no gradient because they are clipped.
struct clip_fractions {
  double low = 0.0;   ///< r < 1 - low and A < 0
  double high = 0.0;  ///< r > 1 + high and A > 0
};
clip_fractions clip_fractions_of(const at::Tensor& ratio, const at::Tensor& advantage,
                                 const clip_options& clip);

}  // namespace troupe

#pragma once
// What is to be minimised for each token, [T]; advantages [T] are constants.

#include <ATen/core/Tensor.h>

#include <optional>

namespace troupe {

struct clip_options {
  double low = 0.2;   ///< the ratio counts down to 1 - low
  double high = 0.2;  ///< and up to 1 + high; higher than `low`: DAPO's clip-higher
  /// For A < 0 a token costs at most this times -A, however large its ratio; none: any.
  std::optional<double> dual;
};

/// -min(r A, clip(r, 1 - low, 1 + high) A): Schulman et al. 2017, arXiv:1707.06347, equation 7;
/// two bounds: Yu et al. 2025, arXiv:2503.14476, equation 10. With `dual` c, for A < 0 instead
/// -max(min(r A, clip(r) A), c A): Ye et al. 2020, arXiv:1912.09729, "dual-clip PPO".
at::Tensor clipped_term(const at::Tensor& ratio, const at::Tensor& advantage,
                        const clip_options& clip);

/// -min(r, ratio_max) A log pi with the ratio as a constant: every token keeps its gradient. CISPO:
/// MiniMax 2025, arXiv:2506.13585, equations 4 and 5, bounded above alone.
at::Tensor cispo_term(const at::Tensor& log_prob, const at::Tensor& ratio,
                      const at::Tensor& advantage, double ratio_max);

/// -A log pi: Williams 1992, https://doi.org/10.1007/BF00992696.
at::Tensor reinforce_term(const at::Tensor& log_prob, const at::Tensor& advantage);

/// The share of tokens for which clipping takes the gradient away.
struct clip_fractions {
  double low = 0.0;   ///< r < 1 - low and A < 0
  double high = 0.0;  ///< r > 1 + high and A > 0
};
clip_fractions clip_fractions_of(const at::Tensor& ratio, const at::Tensor& advantage,
                                 const clip_options& clip);

}  // namespace troupe

#pragma once
#include <ATen/core/Tensor.h>

#include "algorithms/losses/token_rows.hpp"

namespace troupe {

/// What becomes of answers that other weights, or the sampler's other arithmetic, have made: each
/// token's loss is weighted by w = pi_to / pi_behaviour, a constant. Where w is far from 1 the
/// weight has a large variance, so:
enum class correction_kind {
  none,      ///< no weight
  truncate,  ///< min(w, max): Espeholt et al. 2018, arXiv:1802.01561; for language models Wu et al.
             ///< 2025, arXiv:2505.24034 ("AIPO"), and Yao et al. 2025,
             ///< https://fengyao.notion.site/off-policy-rl ("TIS")
  mask,      ///< w where min <= w <= max, else 0: "MIS"
};

/// What w is the ratio of.
enum class correction_level {
  token,     ///< each token
  sequence,  ///< whole answers: the product of their tokens'
};

struct correction_options {
  correction_kind kind = correction_kind::none;
  correction_level level = correction_level::token;
  double max = 5.0;
  double min = 0.0;  ///< of `mask`
};

struct correction {
  at::Tensor weight;          ///< [T], without gradient
  double mean = 1.0;          ///< of w as it is before it is truncated or masked
  double out_of_range = 0.0;  ///< share of tokens whose weight was truncated or masked
};

/// Both log-probabilities are [T]. To a proximal policy other than the behaviour, with a clipped
/// ratio to that, this is decoupled PPO: Hilton et al. 2021, arXiv:2110.00641. To the weights being
/// trained, with REINFORCE's term, it is the policy gradient off-policy, by token. Logarithms are
/// held within policy_ratio.hpp's log_ratio_limit.
correction importance_correction(const at::Tensor& to, const at::Tensor& behaviour,
                                 const token_rows& rows, const correction_options& options);

}  // namespace troupe

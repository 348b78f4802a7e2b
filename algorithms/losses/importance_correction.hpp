#pragma once
// Importance weights for stale answers of a language model. grpo_loss.hpp uses them.

#include <ATen/core/Tensor.h>

#include "algorithms/losses/token_rows.hpp"

namespace troupe {

/// How the loss is corrected for answers that other weights, or a sampler with other arithmetic,
/// have made. Each token's loss is weighted by w = pi_to / pi_behaviour, which has no gradient.
/// Weights far from 1 have a large variance, so they are truncated or masked.
enum class correction_kind {
  none,      ///< no weight
  truncate,  ///< min(w, max): Espeholt et al. 2018, arXiv:1802.01561; for language models Wu et al.
             ///< 2025, arXiv:2505.24034 ("AIPO"), and Yao et al. 2025,
             ///< https://fengyao.notion.site/off-policy-rl ("TIS")
  mask,      ///< w where min <= w <= max, else 0: "MIS"
};

/// The level at which w is computed.
enum class correction_level {
  token,     ///< The ratio of each token.
  sequence,  ///< The ratio of each answer: the product of the ratios of its tokens.
};

struct correction_options {
  correction_kind kind = correction_kind::none;
  correction_level level = correction_level::token;
  double max = 5.0;  ///< The largest w.
  double min = 0.0;  ///< The smallest w; only `mask` uses it.
};

struct correction {
  at::Tensor weight;          ///< [T], without gradient
  double mean = 1.0;          ///< The mean of w before it is truncated or masked.
  double out_of_range = 0.0;  ///< The share of tokens whose w was truncated or masked.
};

/// Computes the weights from the log-probabilities [T] under pi_to and pi_behaviour. If `to` is a
/// proximal policy and the loss clips the ratio to it, this is decoupled PPO (Hilton et al. 2021,
/// arXiv:2110.00641). If `to` are the weights that are trained and the term is REINFORCE's, this is
/// the off-policy policy gradient, per token. Logarithms are clamped to policy_ratio.hpp's
/// log_ratio_limit.
correction importance_correction(const at::Tensor& to, const at::Tensor& behaviour,
                                 const token_rows& rows, const correction_options& options);

}  // namespace troupe

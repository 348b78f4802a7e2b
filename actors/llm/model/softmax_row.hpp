#pragma once
// The softmax of a row of logits, for samplers and scorers.

#include <cmath>
#include <span>

#include "actors/llm/tokenizer/bpe.hpp"

namespace troupe::llm {

/// The normalisation of a row of logits at a temperature. Sums are in double.
struct softmax_row {
  double most = 0;         ///< the highest logit
  double sum = 0;          ///< the sum of the weights; not finite if a logit isn't
  double temperature = 1;  ///< above 0

  /// The log-probability of a token with this logit.
  double log_prob(float logit) const {
    return (static_cast<double>(logit) - most) / temperature - std::log(sum);
  }
};

/// Writes weights[i] = exp((logits[i] - max) / temperature), so that the highest is 1. Both spans
/// must have the same size, which must not be 0.
softmax_row softmax_of(std::span<const float> logits, double temperature, std::span<float> weights);

}  // namespace troupe::llm

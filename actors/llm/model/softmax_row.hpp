#pragma once

#include <cmath>
#include <span>

#include "actors/llm/tokenizer/bpe.hpp"

namespace troupe::llm {

/// A row of logits under a temperature. Sums are in double.
struct softmax_row {
  double most = 0;         ///< the highest logit
  double sum = 0;          ///< of the weights; not finite where a logit isn't
  double temperature = 1;  ///< > 0

  /// Of a token with this logit.
  double log_prob(float logit) const {
    return (static_cast<double>(logit) - most) / temperature - std::log(sum);
  }
};

/// weights[i] = exp((logits[i] - max) / temperature): the highest is 1. Both of the same size, not
/// empty.
softmax_row softmax_of(std::span<const float> logits, double temperature, std::span<float> weights);

}  // namespace troupe::llm

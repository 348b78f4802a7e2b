#pragma once
// The log-probabilities of tokens from hidden states, without all logits in memory, for training.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "actors/llm/model/packed_forward.hpp"

namespace troupe::llm {

/// The N tokens that are scored. Each has an id and the row of the hidden states that predicts it,
/// which is the row of the token before it. Several tokens may have the same row.
struct target_tokens {
  std::vector<std::int64_t> rows;
  std::vector<token_id> ids;
};

struct log_prob_options {
  /// The divisor of the logits, which must be that of the sampler. Above 0.
  double temperature = 1.0;
  bool entropy = false;
  /// The number of rows, at least 1, whose logits are in memory at the same time. They are computed
  /// once more for the gradient.
  std::int64_t rows_at_once = 128;
  compute_type compute = compute_type::f32;
};

/// The log-probabilities and entropies of the targets.
struct token_scores {
  at::Tensor log_probs;  ///< float [N]
  at::Tensor entropy;    ///< float [N], of each distribution in nats; undefined if not asked for
};

/// log softmax(head hidden / temperature) of the targets, which is differentiable in the hidden
/// states [T, hidden_size] and in the head. Rows without a target cost nothing. Throws
/// std::invalid_argument for a row beyond T, an id that is no row of the head, and options out of
/// range.
token_scores token_log_probs(const model_config& config, const model_weights& weights,
                             const at::Tensor& hidden, const target_tokens& targets,
                             const log_prob_options& options = {});

}  // namespace troupe::llm

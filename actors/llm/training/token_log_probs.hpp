#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "actors/llm/model/packed_forward.hpp"

namespace troupe::llm {

/// The tokens that are scored: for each the row of the hidden states that it is predicted from
/// (that of the token before it), and its id. N of each; several may be of one row.
struct target_tokens {
  std::vector<std::int64_t> rows;
  std::vector<token_id> ids;
};

struct log_prob_options {
  /// Logits are divided by it, as the sampler did. Above 0.
  double temperature = 1.0;
  bool entropy = false;
  /// Logits are computed for so many rows at a time, and once more for the gradient: all rows'
  /// together never exist. At least 1.
  std::int64_t rows_at_once = 128;
  compute_type compute = compute_type::f32;
};

struct token_scores {
  at::Tensor log_probs;  ///< float [N]
  at::Tensor entropy;  ///< float [N], in nats, of what each was drawn from; undefined unless asked
};

/// log softmax(head hidden / temperature) of the targets. Differentiable in the hidden states
/// [T, hidden_size] and in the head; rows that no target is predicted from cost nothing. Throws
/// std::invalid_argument for a row that isn't there, an id that is no row of the head, and options
/// out of range.
token_scores token_log_probs(const model_config& config, const model_weights& weights,
                             const at::Tensor& hidden, const target_tokens& targets,
                             const log_prob_options& options = {});

}  // namespace troupe::llm

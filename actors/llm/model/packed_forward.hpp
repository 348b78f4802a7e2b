#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "actors/llm/model/model_config.hpp"
#include "actors/llm/model/model_weights.hpp"
#include "actors/llm/tokenizer/bpe.hpp"

namespace troupe::llm {

/// Documents one after the other, without padding: each attends to itself alone and its positions
/// begin at 0.
struct packed_tokens {
  std::vector<token_id> ids;          ///< [T]
  std::vector<std::int64_t> lengths;  ///< of the documents; their sum is T
};

/// The last hidden states [T, hidden_size], after the final norm: what trainers and reference
/// models compute. Differentiable in the weights. Throws std::invalid_argument for an id that is no
/// row of the embedding and for a document that is longer than the context.
at::Tensor packed_hidden(const model_config& config, const model_weights& weights,
                         const packed_tokens& tokens);

/// The logits [rows, vocab_size] of hidden states.
at::Tensor logits_of(const model_config& config, const model_weights& weights,
                     const at::Tensor& hidden);

}  // namespace troupe::llm

#pragma once

#include <ATen/core/Tensor.h>

#include "actors/llm/model/adapters.hpp"
#include "actors/llm/model/model_config.hpp"
#include "actors/llm/model/model_weights.hpp"
#include "actors/llm/model/packed_tokens.hpp"

namespace troupe::llm {

/// What the linear layers are computed in; their weights are float either way. bf16: inputs,
/// weights and gradients of a product are rounded to bfloat16, its sums are float. Norms, rotary
/// embeddings, attention, the sums along the layers and log-probabilities are always float.
enum class compute_type { f32, bf16 };

struct forward_options {
  compute_type compute = compute_type::f32;
  /// Of each layer only the input is kept for the gradient, and the layer is computed once more
  /// when its turn comes: a third more work for a fraction of the memory. The same gradient.
  bool recompute_layers = false;
  /// Added to the linear layers; not owned, for the length of the call. Null: none.
  const adapter_weights* adapters = nullptr;
};

/// The last hidden states [T, hidden_size], after the final norm: what trainers and reference
/// models compute. Differentiable in the weights and the adapters. Throws std::invalid_argument as
/// places_of, and for adapters of another number of layers.
at::Tensor packed_hidden(const model_config& config, const model_weights& weights,
                         const packed_tokens& tokens, const forward_options& options = {});

/// The logits [rows, vocab_size] of hidden states.
at::Tensor logits_of(const model_config& config, const model_weights& weights,
                     const at::Tensor& hidden);

}  // namespace troupe::llm

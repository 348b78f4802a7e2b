#pragma once
// A language model's differentiable forward pass over packed documents, for training.

#include <ATen/core/Tensor.h>

#include "actors/llm/model/adapters.hpp"
#include "actors/llm/model/model_config.hpp"
#include "actors/llm/model/model_weights.hpp"
#include "actors/llm/model/packed_tokens.hpp"

namespace troupe::llm {

/// The type in which linear layers are computed. The weights are float in both cases. With bf16 the
/// inputs, weights and gradients of a product are rounded to bfloat16, and the sums are float.
/// Norms, rotary embeddings, attention, residual sums and log-probabilities are always float.
enum class compute_type { f32, bf16 };

struct forward_options {
  compute_type compute = compute_type::f32;
  /// Keeps only the input of each layer for the gradient and computes the layer once more in the
  /// backward pass. This takes a third more time and a fraction of the memory, and gives the same
  /// gradient.
  bool recompute_layers = false;
  /// Adapters that are added to the linear layers. They are not owned and must outlive the call.
  /// Null means none.
  const adapter_weights* adapters = nullptr;
};

/// The last hidden states [T, hidden_size], after the final norm, for trainers and reference
/// models. They are differentiable in the weights and the adapters. Throws std::invalid_argument
/// like places_of, and for adapters with another number of layers.
at::Tensor packed_hidden(const model_config& config, const model_weights& weights,
                         const packed_tokens& tokens, const forward_options& options = {});

/// The logits [rows, vocab_size] of hidden states.
at::Tensor logits_of(const model_config& config, const model_weights& weights,
                     const at::Tensor& hidden);

}  // namespace troupe::llm

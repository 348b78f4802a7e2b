#pragma once
// The weights of a language model as named tensors.

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "actors/llm/model/model_config.hpp"

namespace troupe::llm {

/// The weights of one layer. Weights that the family doesn't have are undefined.
struct layer_weights {
  at::Tensor input_norm;                      ///< [hidden_size]
  at::Tensor q, k, v, o;                      ///< [outputs, inputs]
  at::Tensor q_bias, k_bias, v_bias, o_bias;  ///< [outputs]
  at::Tensor q_norm, k_norm;                  ///< [head_dim]
  at::Tensor post_norm;                       ///< [hidden_size]
  at::Tensor gate, up, down;  ///< [intermediate_size, hidden_size]; down has them reversed
};

/// The weights of a decoder, all of type float.
struct model_weights {
  at::Tensor embedding;  ///< [vocab_size, hidden_size]
  std::vector<layer_weights> layers;
  at::Tensor norm;  ///< [hidden_size]
  at::Tensor head;  ///< [vocab_size, hidden_size]; undefined if the embedding is the head
};

/// The names and the shape of one weight.
struct weight_place {
  std::string name;       ///< the name in a checkpoint: "model.layers.0.self_attn.q_proj.weight"
  std::string gguf_name;  ///< the name in a GGUF file: "blk.0.attn_q.weight"
  std::vector<std::int64_t> shape;
  /// The number of heads whose rows a GGUF file of Llama has in another order (see read_model.cpp).
  /// 0 means that the order is the same.
  std::int64_t permuted_heads = 0;
};

/// Calls `visit` with every weight of the model, in the order of computation. `weights` must have
/// the layers already. Reading, writing, training and packing take names and shapes from here.
void for_each_weight(const model_config& config, model_weights& weights,
                     const std::function<void(const weight_place&, at::Tensor&)>& visit);

/// Weights with a standard deviation of 0.02, norms of 1 and biases of 0, as transformers
/// initialises them. They depend only on the shape and the seed.
model_weights random_weights(const model_config& config, std::uint64_t seed);

}  // namespace troupe::llm

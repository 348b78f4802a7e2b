#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "actors/llm/model/model_config.hpp"

namespace troupe::llm {

/// The weights of one layer; those that the family lacks are undefined.
struct layer_weights {
  at::Tensor input_norm;                      ///< [hidden_size]
  at::Tensor q, k, v, o;                      ///< [outputs, inputs]
  at::Tensor q_bias, k_bias, v_bias, o_bias;  ///< [outputs]
  at::Tensor q_norm, k_norm;                  ///< [head_dim]
  at::Tensor post_norm;                       ///< [hidden_size]
  at::Tensor gate, up, down;                  ///< [intermediate_size, hidden_size], down turned
};

/// A decoder's weights, float.
struct model_weights {
  at::Tensor embedding;  ///< [vocab_size, hidden_size]
  std::vector<layer_weights> layers;
  at::Tensor norm;  ///< [hidden_size]
  at::Tensor head;  ///< [vocab_size, hidden_size]; undefined where the embedding is the head
};

/// One of the weights: what a checkpoint calls it, what a GGUF file does, and its shape.
struct weight_place {
  std::string name;       ///< "model.layers.0.self_attn.q_proj.weight"
  std::string gguf_name;  ///< "blk.0.attn_q.weight"
  std::vector<std::int64_t> shape;
  /// Of how many heads a GGUF file of Llama has the rows in another order (see read_model.cpp); 0
  /// for none.
  std::int64_t permuted_heads = 0;
};

/// Calls `visit` with every weight that the model has, in the order of its computation. The layers
/// are there. The one list of names and shapes: reading, writing, training and packing use it.
void for_each_weight(const model_config& config, model_weights& weights,
                     const std::function<void(const weight_place&, at::Tensor&)>& visit);

/// Weights drawn from N(0, 0.02), norms 1, biases 0, as transformers initialises them. By this seed
/// alone.
model_weights random_weights(const model_config& config, std::uint64_t seed);

}  // namespace troupe::llm

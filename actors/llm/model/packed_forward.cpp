#include "actors/torch/torch.hpp"

#include "actors/llm/model/packed_forward.hpp"

#include "actors/llm/model/decode_kernels.hpp"
#include "actors/llm/model/forward_ops.hpp"
#include "actors/llm/model/recomputed.hpp"
#include "actors/llm/model/tree_attention.hpp"

namespace troupe::llm {
namespace {

using at::Tensor;
using index = std::int64_t;
using documents_ptr = std::shared_ptr<const std::vector<document_place>>;

/// The cosines and sines of the rotary angles, [T, head_dim / 2] each.
struct rotation {
  Tensor cosine, sine;
};

rotation rotation_of(const model_config& c, const std::vector<document_place>& documents) {
  const auto frequencies = rope_frequencies(c);
  index total = 0;
  for (const auto& d : documents) total += d.own.count;
  const rotation r{at::empty({total, c.head_dim / 2}), at::empty({total, c.head_dim / 2})};
  index row = 0;
  for (const auto& d : documents) {
    for (index i = 0; i < d.own.count; ++i, row += c.head_dim / 2)
      angles_of(float(d.position + i), frequencies, float(c.scaling.attention_factor),
                r.cosine.data_ptr<float>() + row, r.sine.data_ptr<float>() + row);
  }
  return r;
}

/// The weights and adapters of a layer.
struct layer_inputs {
  layer_weights weights;
  std::array<adapter, projections> adapters = {};
};

// The tensors of a layer that are defined, in a fixed order.
std::vector<Tensor*> tensors_of(layer_inputs& in) {
  auto& w = in.weights;
  std::vector<Tensor*> all{&w.input_norm, &w.q,      &w.k,      &w.v,         &w.o,
                           &w.q_bias,     &w.k_bias, &w.v_bias, &w.o_bias,    &w.q_norm,
                           &w.k_norm,     &w.gate,   &w.up,     &w.post_norm, &w.down};
  for (auto& one : in.adapters) all.insert(all.end(), {&one.a, &one.b});
  std::erase_if(all, [](const Tensor* tensor) { return !tensor->defined(); });
  return all;
}

/// The data that all layers of a forward pass share.
struct forward_pass {
  model_config config;
  documents_ptr documents;
  rotation turn;
  compute_type compute;
  double adapter_scale;

  Tensor product(const Tensor& x, const Tensor& weight) const {
    if (compute == compute_type::f32) return row_products(x, weight);
    return at::linear(x.to(at::kBFloat16), weight.to(at::kBFloat16)).to(at::kFloat);
  }

  Tensor linear(const layer_inputs& in, projection which, const Tensor& x, const Tensor& weight,
                const Tensor& bias = {}) const {
    auto y = product(x, weight);
    if (bias.defined()) y = y.add_(bias);
    const auto& [a, b] = in.adapters[static_cast<std::size_t>(which)];
    return a.defined() ? y.add_(product(product(x, a), b), adapter_scale) : y;
  }

  // Computes one layer from x [T, hidden_size] to [T, hidden_size].
  Tensor layer(const layer_inputs& in, Tensor x) const {
    const auto& c = config;
    const auto& w = in.weights;
    const auto total = x.size(0);
    const auto h = rms_norm(x, w.input_norm, c.rms_norm_eps);
    auto q = linear(in, projection::q, h, w.q, w.q_bias).view({total, c.heads, c.head_dim});
    auto k = linear(in, projection::k, h, w.k, w.k_bias).view({total, c.kv_heads, c.head_dim});
    const auto v =
        linear(in, projection::v, h, w.v, w.v_bias).view({total, c.kv_heads, c.head_dim});
    if (c.qk_norm) {
      q = rms_norm(q, w.q_norm, c.rms_norm_eps);
      k = rms_norm(k, w.k_norm, c.rms_norm_eps);
    }
    const auto seen = tree_attention(rotated(q, turn.cosine, turn.sine),
                                     rotated(k, turn.cosine, turn.sine), v, documents);
    x = linear(in, projection::o, seen, w.o, w.o_bias).add_(x);
    const auto m = rms_norm(x, w.post_norm, c.rms_norm_eps);
    const auto inner =
        gated(linear(in, projection::gate, m, w.gate), linear(in, projection::up, m, w.up));
    return linear(in, projection::down, inner, w.down).add_(x);
  }
};

Tensor recomputed_layer(const forward_pass& pass, layer_inputs in, const Tensor& x) {
  std::vector<Tensor> inputs{x};
  for (const auto* tensor : tensors_of(in)) inputs.push_back(*tensor);
  const auto compute = [pass, in](const std::vector<Tensor>& given) {
    auto mine = in;
    const auto places = tensors_of(mine);
    for (std::size_t i = 0; i < places.size(); ++i) *places[i] = given[i + 1];
    return pass.layer(mine, given[0]);
  };
  return recomputed(compute, inputs);
}

}  // namespace

Tensor packed_hidden(const model_config& c, const model_weights& weights,
                     const packed_tokens& tokens, const forward_options& options) {
  const auto* adapters = options.adapters;
  if (adapters && adapters->layers.size() != weights.layers.size())
    throw std::invalid_argument("packed_hidden: expected adapters of " +
                                std::to_string(weights.layers.size()) + " layers, got " +
                                std::to_string(adapters->layers.size()));
  const auto documents = std::make_shared<const std::vector<document_place>>(places_of(c, tokens));
  const forward_pass pass{c, documents, rotation_of(c, *documents), options.compute,
                          adapters ? adapters->scale : 1.0};
  const auto ids = at::tensor(tokens.ids, at::kInt).to(at::kLong);
  auto x = at::embedding(weights.embedding, ids);
  for (std::size_t i = 0; i < weights.layers.size(); ++i) {
    layer_inputs in{weights.layers[i]};
    if (adapters) in.adapters = adapters->layers[i];
    x = options.recompute_layers ? recomputed_layer(pass, in, x) : pass.layer(in, x);
  }
  return rms_norm(x, weights.norm, c.rms_norm_eps);
}

Tensor logits_of(const model_config& c, const model_weights& weights, const Tensor& hidden) {
  return row_products(hidden, c.tied_embeddings ? weights.embedding : weights.head);
}

}  // namespace troupe::llm

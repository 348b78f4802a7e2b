#include "actors/torch.hpp"

#include "actors/llm/model/packed_forward.hpp"

#include "actors/llm/model/forward_ops.hpp"
#include "actors/llm/model/recomputed.hpp"
#include "actors/llm/model/tree_attention.hpp"

namespace troupe::llm {
namespace {

using at::Tensor;
using index = std::int64_t;
using documents_ptr = std::shared_ptr<const std::vector<document_place>>;

/// cos and sin of the rotary angles, [T, head_dim / 2] each.
struct rotation {
  Tensor cosine, sine;
};

rotation rotation_of(const model_config& c, const std::vector<document_place>& documents) {
  const auto frequencies = rope_frequencies(c);
  std::vector<Tensor> positions;
  for (const auto& d : documents)
    positions.push_back(at::arange(d.position, d.position + d.own.count, at::kFloat));
  const auto angles = at::cat(positions).unsqueeze(1) * at::tensor(frequencies).unsqueeze(0);
  const auto factor = c.scaling.attention_factor;
  return {angles.cos() * factor, angles.sin() * factor};
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, compute_type compute) {
  if (compute == compute_type::f32) return at::linear(x, weight, bias);
  const auto y = at::linear(x.to(at::kBFloat16), weight.to(at::kBFloat16)).to(at::kFloat);
  return bias.defined() ? y + bias : y;
}

/// What the layers share.
struct forward_pass {
  model_config config;
  documents_ptr documents;
  rotation turn;
  compute_type compute;

  // One layer: x [T, hidden_size], and what it becomes.
  Tensor layer(const layer_weights& w, Tensor x) const {
    const auto& c = config;
    const auto total = x.size(0);
    const auto h = rms_norm(x, w.input_norm, c.rms_norm_eps);
    auto q = linear(h, w.q, w.q_bias, compute).view({total, c.heads, c.head_dim});
    auto k = linear(h, w.k, w.k_bias, compute).view({total, c.kv_heads, c.head_dim});
    const auto v = linear(h, w.v, w.v_bias, compute).view({total, c.kv_heads, c.head_dim});
    if (c.qk_norm) {
      q = rms_norm(q, w.q_norm, c.rms_norm_eps);
      k = rms_norm(k, w.k_norm, c.rms_norm_eps);
    }
    const auto seen = tree_attention(rotated(q, turn.cosine, turn.sine),
                                     rotated(k, turn.cosine, turn.sine), v, documents);
    x = linear(seen, w.o, w.o_bias, compute).add_(x);
    const auto m = rms_norm(x, w.post_norm, c.rms_norm_eps);
    const auto inner = gated(linear(m, w.gate, {}, compute), linear(m, w.up, {}, compute));
    return linear(inner, w.down, {}, compute).add_(x);
  }
};

constexpr Tensor layer_weights::* every_weight[] = {
    &layer_weights::input_norm, &layer_weights::q,      &layer_weights::k,
    &layer_weights::v,          &layer_weights::o,      &layer_weights::q_bias,
    &layer_weights::k_bias,     &layer_weights::v_bias, &layer_weights::o_bias,
    &layer_weights::q_norm,     &layer_weights::k_norm, &layer_weights::post_norm,
    &layer_weights::gate,       &layer_weights::up,     &layer_weights::down};

Tensor recomputed_layer(const forward_pass& pass, const layer_weights& weights, const Tensor& x) {
  std::vector<Tensor> inputs{x};
  std::vector<Tensor layer_weights::*> members;
  for (const auto member : every_weight) {
    if (!(weights.*member).defined()) continue;
    members.push_back(member);
    inputs.push_back(weights.*member);
  }
  const auto compute = [pass, members](const std::vector<Tensor>& given) {
    layer_weights w;
    for (std::size_t i = 0; i < members.size(); ++i) w.*members[i] = given[i + 1];
    return pass.layer(w, given[0]);
  };
  return recomputed(compute, inputs);
}

}  // namespace

Tensor packed_hidden(const model_config& c, const model_weights& weights,
                     const packed_tokens& tokens, const forward_options& options) {
  const auto documents = std::make_shared<const std::vector<document_place>>(places_of(c, tokens));
  const forward_pass pass{c, documents, rotation_of(c, *documents), options.compute};
  const auto ids = at::tensor(tokens.ids, at::kInt).to(at::kLong);
  auto x = at::embedding(weights.embedding, ids);
  for (const auto& layer : weights.layers)
    x = options.recompute_layers ? recomputed_layer(pass, layer, x) : pass.layer(layer, x);
  return rms_norm(x, weights.norm, c.rms_norm_eps);
}

Tensor logits_of(const model_config& c, const model_weights& weights, const Tensor& hidden) {
  return at::linear(hidden, c.tied_embeddings ? weights.embedding : weights.head);
}

}  // namespace troupe::llm

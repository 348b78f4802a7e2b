#include "actors/torch.hpp"

#include "actors/llm/model/packed_forward.hpp"

#include <cmath>

namespace troupe::llm {
namespace {

using at::Tensor;
using index = std::int64_t;

/// cos and sin of the rotary angles, [T, 1, head_dim / 2] each.
struct rotation {
  Tensor cosine, sine;
};

rotation rotation_of(const model_config& c, const std::vector<index>& lengths) {
  const auto frequencies = rope_frequencies(c);
  std::vector<Tensor> positions;
  for (const auto length : lengths) positions.push_back(at::arange(length, at::kFloat));
  const auto angles = at::cat(positions).unsqueeze(1) * at::tensor(frequencies).unsqueeze(0);
  const auto factor = c.scaling.attention_factor;
  return {(angles.cos() * factor).unsqueeze(1), (angles.sin() * factor).unsqueeze(1)};
}

// x [T, heads, head_dim]: the halves are the parts of the complex numbers that are turned.
Tensor rotated(const Tensor& x, const rotation& r) {
  const auto halves = x.chunk(2, -1);
  return at::cat(
      {halves[0] * r.cosine - halves[1] * r.sine, halves[1] * r.cosine + halves[0] * r.sine}, -1);
}

// Zhang and Sennrich 2019, arXiv:1910.07467, equation 4.
Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  return weight * (x * at::rsqrt(x.pow(2).mean({-1}, true) + eps));
}

// One document: q [n, heads, head_dim], k and v [n, kv_heads, head_dim]; gives [n, heads *
// head_dim].
Tensor attention(const model_config& c, const Tensor& q, const Tensor& k, const Tensor& v) {
  const auto n = q.size(0);
  const auto group = c.heads / c.kv_heads;
  // [kv_heads, group * n, head_dim]: the query heads of a group share their key head.
  const auto queries = q.view({n, c.kv_heads, group, c.head_dim})
                           .permute({1, 2, 0, 3})
                           .reshape({c.kv_heads, group * n, c.head_dim});
  const auto keys = k.permute({1, 2, 0});
  auto scores = at::matmul(queries, keys) * (1.0 / std::sqrt(static_cast<double>(c.head_dim)));
  const auto later = at::ones({n, n}, at::kBool).triu(1);
  scores = scores.view({c.kv_heads, group, n, n}).masked_fill(later, -INFINITY);
  const auto weights = scores.softmax(-1).view({c.kv_heads, group * n, n});
  return at::matmul(weights, v.transpose(0, 1))
      .view({c.kv_heads, group, n, c.head_dim})
      .permute({2, 0, 1, 3})
      .reshape({n, c.heads * c.head_dim});
}

void check_tokens(const model_config& c, const packed_tokens& tokens) {
  index total = 0;
  for (const auto length : tokens.lengths) {
    if (length < 1 || length > c.max_positions)
      throw std::invalid_argument("packed_hidden: expected documents of 1 to " +
                                  std::to_string(c.max_positions) + " tokens, got " +
                                  std::to_string(length));
    total += length;
  }
  if (total != index(tokens.ids.size()) || total == 0)
    throw std::invalid_argument("packed_hidden: expected documents of " +
                                std::to_string(tokens.ids.size()) + " tokens together, got " +
                                std::to_string(total));
  for (const auto id : tokens.ids) {
    if (id < 0 || id >= c.vocab_size)
      throw std::invalid_argument("packed_hidden: expected ids from 0 to " +
                                  std::to_string(c.vocab_size - 1) + ", got " + std::to_string(id));
  }
}

}  // namespace

Tensor packed_hidden(const model_config& c, const model_weights& weights,
                     const packed_tokens& tokens) {
  check_tokens(c, tokens);
  const auto turn = rotation_of(c, tokens.lengths);
  const auto ids = at::tensor(tokens.ids, at::kInt).to(at::kLong);
  const auto total = ids.size(0);
  auto x = at::embedding(weights.embedding, ids);
  for (const auto& layer : weights.layers) {
    const auto h = rms_norm(x, layer.input_norm, c.rms_norm_eps);
    auto q = at::linear(h, layer.q, layer.q_bias).view({total, c.heads, c.head_dim});
    auto k = at::linear(h, layer.k, layer.k_bias).view({total, c.kv_heads, c.head_dim});
    const auto v = at::linear(h, layer.v, layer.v_bias).view({total, c.kv_heads, c.head_dim});
    if (c.qk_norm) {
      q = rms_norm(q, layer.q_norm, c.rms_norm_eps);
      k = rms_norm(k, layer.k_norm, c.rms_norm_eps);
    }
    q = rotated(q, turn);
    k = rotated(k, turn);
    std::vector<Tensor> attended;
    index begin = 0;
    for (const auto n : tokens.lengths) {
      attended.push_back(
          attention(c, q.narrow(0, begin, n), k.narrow(0, begin, n), v.narrow(0, begin, n)));
      begin += n;
    }
    x = x + at::linear(at::cat(attended), layer.o, layer.o_bias);
    const auto m = rms_norm(x, layer.post_norm, c.rms_norm_eps);
    x = x + at::linear(at::silu(at::linear(m, layer.gate)) * at::linear(m, layer.up), layer.down);
  }
  return rms_norm(x, weights.norm, c.rms_norm_eps);
}

Tensor logits_of(const model_config& c, const model_weights& weights, const Tensor& hidden) {
  return at::linear(hidden, c.tied_embeddings ? weights.embedding : weights.head);
}

}  // namespace troupe::llm

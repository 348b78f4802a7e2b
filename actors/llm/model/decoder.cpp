#include "actors/torch/torch.hpp"

#include "actors/llm/model/decoder.hpp"

#include <algorithm>
#include <cmath>

#include "actors/kernels/lanes.hpp"
#include "actors/llm/model/decode_kernels.hpp"

namespace troupe::llm {
namespace {

using index = std::int64_t;

std::vector<float> floats_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  const auto plain = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
  const auto* begin = plain.data_ptr<float>();
  return {begin, begin + plain.numel()};
}

packed_matrix pack(const std::vector<at::Tensor>& stacked) {
  std::vector<at::Tensor> plain;
  std::vector<weight_rows> parts;
  for (const auto& tensor : stacked) {
    plain.push_back(tensor.detach().to(at::kCPU, at::kFloat).contiguous());
    parts.push_back({plain.back().data_ptr<float>(), plain.back().size(0)});
  }
  return {parts, plain.front().size(1)};
}

std::vector<float> joined(std::vector<float> a, const std::vector<float>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void add_bias(std::vector<float>& rows, const std::vector<float>& bias) {
  if (bias.empty()) return;
  for (std::size_t begin = 0; begin < rows.size(); begin += bias.size()) {
    for (std::size_t i = 0; i < bias.size(); ++i) rows[begin + i] += bias[i];
  }
}

}  // namespace

class packed_weights {
 public:
  struct layer {
    std::vector<float> input_norm, post_norm, q_norm, k_norm;
    packed_matrix qkv, o, gate_up, down;
    std::vector<float> qkv_bias, o_bias;
  };

  packed_weights(const model_config& c, const model_weights& weights)
      : config(c),
        embedding(weights.embedding.detach().to(at::kCPU, at::kFloat).contiguous()),
        norm(floats_of(weights.norm)),
        head(pack({c.tied_embeddings ? weights.embedding : weights.head})) {
    for (const auto& from : weights.layers) {
      layers.push_back({.input_norm = floats_of(from.input_norm),
                        .post_norm = floats_of(from.post_norm),
                        .q_norm = floats_of(from.q_norm),
                        .k_norm = floats_of(from.k_norm),
                        .qkv = pack({from.q, from.k, from.v}),
                        .o = pack({from.o}),
                        .gate_up = pack({from.gate, from.up}),
                        .down = pack({from.down}),
                        .qkv_bias = joined(joined(floats_of(from.q_bias), floats_of(from.k_bias)),
                                           floats_of(from.v_bias)),
                        .o_bias = floats_of(from.o_bias)});
    }
  }

  model_config config;
  at::Tensor embedding;
  std::vector<layer> layers;
  std::vector<float> norm;
  packed_matrix head;
};

std::shared_ptr<const packed_weights> pack_weights(const model_config& config,
                                                   const model_weights& weights) {
  check_sizes(config);
  if (config.head_dim % detail::lane_count != 0)
    throw std::invalid_argument("pack_weights: head_dim: expected a multiple of 16, got " +
                                std::to_string(config.head_dim));
  return std::make_shared<packed_weights>(config, weights);
}

/// A token of a step, and the place of its keys and values.
struct decoder::token_place {
  const kv_sequence* sequence;
  index slot;      // the place in the sequence's last segment
  index position;  // the position in the sequence
  token_id id;
  bool wanted;
};

decoder::decoder(std::shared_ptr<const packed_weights> weights)
    : weights_(std::move(weights)), frequencies_(rope_frequencies(weights_->config)) {}

void decoder::set_weights(std::shared_ptr<const packed_weights> weights) {
  const auto& now = weights_->config;
  const auto& next = weights->config;
  if (to_config_json(now) != to_config_json(next))
    throw std::invalid_argument("set_weights: expected the weights of " + to_config_json(now) +
                                ", got those of " + to_config_json(next));
  weights_ = std::move(weights);
}

const model_config& decoder::config() const { return weights_->config; }

std::vector<decoder::token_place> decoder::places_of(std::span<const token_run> runs) const {
  const auto& c = weights_->config;
  const auto refuse = [](const std::string& what) {
    return std::invalid_argument("decoder: expected " + what);
  };
  std::vector<const kv_sequence*> sequences;
  sequences.reserve(runs.size());
  std::size_t tokens = 0;
  for (const auto& run : runs) {
    sequences.push_back(run.sequence);
    tokens += run.tokens.size();
  }
  std::ranges::sort(sequences);
  const bool has_null = !sequences.empty() && !sequences.front();
  if (has_null || std::ranges::adjacent_find(sequences) != sequences.end())
    throw refuse("each sequence in one run");
  std::vector<token_place> places;
  places.reserve(tokens);
  for (const auto& run : runs) {
    const auto count = static_cast<index>(run.tokens.size());
    if (count == 0) throw refuse("runs of one token or more, got none");
    const auto length = run.sequence->length();
    if (count > run.sequence->room())
      throw refuse("room for " + std::to_string(count) + " tokens in the sequence, got room for " +
                   std::to_string(run.sequence->room()));
    if (length + count > c.max_positions)
      throw refuse("at most " + std::to_string(c.max_positions) + " tokens in a sequence, got " +
                   std::to_string(length + count));
    const auto& segment = *run.sequence->segments_.back();
    if (segment.kv_heads != c.kv_heads || segment.head_dim != c.head_dim)
      throw refuse("sequences made for this model");
    for (index i = 0; i < count; ++i) {
      const auto id = run.tokens[static_cast<std::size_t>(i)];
      if (id < 0 || id >= c.vocab_size)
        throw refuse("ids from 0 to " + std::to_string(c.vocab_size - 1) + ", got " +
                     std::to_string(id));
      const bool wanted =
          run.wanted == wanted_logits::all || (run.wanted == wanted_logits::last && i + 1 == count);
      places.push_back({run.sequence, segment.used + i, length + i, id, wanted});
    }
  }
  return places;
}

// Writes the keys and values of the step, and lets each token attend to those up to its own.
void decoder::attend_layer(index layer, const std::vector<token_place>& places) {
  const auto& c = weights_->config;
  const auto block = detail::lane_count;
  const index width = c.q_size() + 2 * c.kv_size();
  const index group = c.heads / c.kv_heads;
  const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(c.head_dim)));
  std::vector<seen_tokens> seen;
  // The heads are the outer loop, so that the tokens that sequences share stay in the cache.
  for (index head = 0; head < c.kv_heads; ++head) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      auto& segment = *places[i].sequence->segments_.back();
      const auto slot = places[i].slot;
      const float* row = qkv_.data() + static_cast<index>(i) * width;
      const float* key = row + c.q_size() + head * c.head_dim;
      const float* value = key + c.kv_size();
      float* key_block =
          segment.keys_of(layer, head) + slot / block * block * c.head_dim + slot % block;
      for (index d = 0; d < c.head_dim; ++d) key_block[d * block] = key[d];
      std::copy(value, value + c.head_dim, segment.values_of(layer, head) + slot * c.head_dim);
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto& place = places[i];
      seen.clear();
      for (const auto& segment : place.sequence->segments_) {
        const bool last = segment == place.sequence->segments_.back();
        const auto count = last ? place.slot + 1 : segment->used;
        if (count > 0)
          seen.push_back({segment->keys_of(layer, head), segment->values_of(layer, head), count});
      }
      const auto token = static_cast<index>(i);
      attend(qkv_.data() + token * width + head * group * c.head_dim, group, c.head_dim, seen,
             scale, scores_.data(),
             attended_.data() + token * c.q_size() + head * group * c.head_dim);
    }
  }
}

at::Tensor decoder::forward(std::span<const token_run> runs) {
  const auto& c = weights_->config;
  const auto places = places_of(runs);
  const auto tokens = static_cast<index>(places.size());
  const auto sized = [](std::vector<float>& v, index count) -> float* {
    v.resize(static_cast<std::size_t>(count));
    return v.data();
  };
  const index half = c.head_dim / 2, hidden = c.hidden_size;
  const index qkv_width = c.q_size() + 2 * c.kv_size();
  float* x = sized(x_, tokens * hidden);
  float* normed = sized(normed_, tokens * hidden);
  float* qkv = sized(qkv_, tokens * qkv_width);
  float* attended = sized(attended_, tokens * c.q_size());
  float* gate_up = sized(gate_up_, tokens * 2 * c.intermediate_size);
  float* gated = sized(gated_, tokens * c.intermediate_size);
  float* cosine = sized(cosine_, tokens * half);
  float* sine = sized(sine_, tokens * half);

  index longest = 0, wanted = 0;
  for (index i = 0; i < tokens; ++i) {
    const auto& place = places[static_cast<std::size_t>(i)];
    const float* row = weights_->embedding.data_ptr<float>() + place.id * hidden;
    std::copy(row, row + hidden, x + i * hidden);
    angles_of(static_cast<float>(place.position), frequencies_,
              static_cast<float>(c.scaling.attention_factor), cosine + i * half, sine + i * half);
    // The tokens of each segment are rounded up to a whole block.
    const auto parts = static_cast<index>(place.sequence->segments_.size());
    longest = std::max(longest, place.position + 1 + parts * detail::lane_count);
    wanted += place.wanted;
  }
  sized(scores_, c.heads / c.kv_heads * longest);

  const auto eps = static_cast<float>(c.rms_norm_eps);
  for (index l = 0; l < c.layers; ++l) {
    const auto& layer = weights_->layers[static_cast<std::size_t>(l)];
    rms_norm_rows(x, tokens, hidden, layer.input_norm.data(), eps, normed);
    layer.qkv.multiply(normed, tokens, qkv);
    add_bias(qkv_, layer.qkv_bias);
    for (index i = 0; i < tokens; ++i) {
      float* q = qkv + i * qkv_width;
      float* k = q + c.q_size();
      if (c.qk_norm) {
        rms_norm_rows(q, c.heads, c.head_dim, layer.q_norm.data(), eps, q);
        rms_norm_rows(k, c.kv_heads, c.head_dim, layer.k_norm.data(), eps, k);
      }
      rotate_heads(q, c.heads + c.kv_heads, half, cosine + i * half, sine + i * half);
    }
    attend_layer(l, places);
    if (layer.o_bias.empty()) {
      layer.o.multiply(attended, tokens, x, true);
    } else {  // sums in the same order as packed_hidden
      layer.o.multiply(attended, tokens, normed);
      add_bias(normed_, layer.o_bias);
      for (index i = 0; i < tokens * hidden; ++i) x[i] += normed[i];
    }
    rms_norm_rows(x, tokens, hidden, layer.post_norm.data(), eps, normed);
    layer.gate_up.multiply(normed, tokens, gate_up);
    gated_rows(gate_up, tokens, c.intermediate_size, gated);
    layer.down.multiply(gated, tokens, x, true);
  }
  for (const auto& run : runs) {
    run.sequence->segments_.back()->used += static_cast<index>(run.tokens.size());
  }

  index row = 0;
  for (index i = 0; i < tokens; ++i) {
    if (!places[static_cast<std::size_t>(i)].wanted) continue;
    rms_norm_rows(x + i * hidden, 1, hidden, weights_->norm.data(), eps, normed + row++ * hidden);
  }
  auto logits = at::empty({wanted, c.vocab_size}, at::kFloat);
  if (wanted > 0) weights_->head.multiply(normed, wanted, logits.data_ptr<float>());
  return logits;
}

}  // namespace troupe::llm

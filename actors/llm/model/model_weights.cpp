#include "actors/torch/torch.hpp"

#include "actors/llm/model/model_weights.hpp"

#include <ATen/CPUGeneratorImpl.h>

namespace troupe::llm {

void for_each_weight(const model_config& c, model_weights& weights,
                     const std::function<void(const weight_place&, at::Tensor&)>& visit) {
  const auto hidden = c.hidden_size;
  visit({"model.embed_tokens.weight", "token_embd.weight", {c.vocab_size, hidden}},
        weights.embedding);
  weights.layers.resize(static_cast<std::size_t>(c.layers));
  for (std::size_t i = 0; i < weights.layers.size(); ++i) {
    auto& layer = weights.layers[i];
    const auto name = "model.layers." + std::to_string(i) + '.';
    const auto gguf = "blk." + std::to_string(i) + '.';
    const auto one = [&](const std::string& theirs, const std::string& ggufs,
                         std::vector<std::int64_t> shape, at::Tensor& tensor,
                         std::int64_t permuted_heads = 0) {
      visit({name + theirs, gguf + ggufs, std::move(shape), permuted_heads}, tensor);
    };
    one("input_layernorm.weight", "attn_norm.weight", {hidden}, layer.input_norm);
    one("self_attn.q_proj.weight", "attn_q.weight", {c.q_size(), hidden}, layer.q, c.heads);
    one("self_attn.k_proj.weight", "attn_k.weight", {c.kv_size(), hidden}, layer.k, c.kv_heads);
    one("self_attn.v_proj.weight", "attn_v.weight", {c.kv_size(), hidden}, layer.v);
    if (c.qkv_bias) {
      one("self_attn.q_proj.bias", "attn_q.bias", {c.q_size()}, layer.q_bias, c.heads);
      one("self_attn.k_proj.bias", "attn_k.bias", {c.kv_size()}, layer.k_bias, c.kv_heads);
      one("self_attn.v_proj.bias", "attn_v.bias", {c.kv_size()}, layer.v_bias);
    }
    if (c.qk_norm) {
      one("self_attn.q_norm.weight", "attn_q_norm.weight", {c.head_dim}, layer.q_norm);
      one("self_attn.k_norm.weight", "attn_k_norm.weight", {c.head_dim}, layer.k_norm);
    }
    one("self_attn.o_proj.weight", "attn_output.weight", {hidden, c.q_size()}, layer.o);
    if (c.output_bias) one("self_attn.o_proj.bias", "attn_output.bias", {hidden}, layer.o_bias);
    one("post_attention_layernorm.weight", "ffn_norm.weight", {hidden}, layer.post_norm);
    one("mlp.gate_proj.weight", "ffn_gate.weight", {c.intermediate_size, hidden}, layer.gate);
    one("mlp.up_proj.weight", "ffn_up.weight", {c.intermediate_size, hidden}, layer.up);
    one("mlp.down_proj.weight", "ffn_down.weight", {hidden, c.intermediate_size}, layer.down);
  }
  visit({"model.norm.weight", "output_norm.weight", {hidden}}, weights.norm);
  if (!c.tied_embeddings)
    visit({"lm_head.weight", "output.weight", {c.vocab_size, hidden}}, weights.head);
}

model_weights random_weights(const model_config& config, std::uint64_t seed) {
  check_sizes(config);
  auto generator = at::detail::createCPUGenerator(seed);
  model_weights weights;
  for_each_weight(config, weights, [&](const weight_place& place, at::Tensor& tensor) {
    if (place.shape.size() == 1)
      tensor = place.name.ends_with(".bias") ? at::zeros(place.shape) : at::ones(place.shape);
    else
      tensor = at::empty(place.shape).normal_(0.0, 0.02, generator);
  });
  return weights;
}

}  // namespace troupe::llm

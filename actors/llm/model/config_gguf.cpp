// Reads a model's shape from GGUF metadata (docs/gguf.md of ggml, section "[llm]").
#include <cmath>
#include <optional>

#include "actors/llm/files/gguf.hpp"
#include "actors/llm/model/model_config.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::llm {
namespace {

// Reads the divisors of the frequencies in Llama 3's scaling. Recognises the published factors, so
// that the model can be written as a config.json, which has no divisors.
void read_divisors(const std::vector<float>& divisors, model_config& c) {
  const auto plain = rope_frequencies(c);
  for (const double factor : {8.0, 32.0}) {
    auto scaled = c;
    scaled.scaling = {
        .type = rope_scaling::kind::llama3, .factor = factor, .original_max_positions = 8192};
    const auto frequencies = rope_frequencies(scaled);
    bool same = divisors.size() == plain.size();
    for (std::size_t j = 0; same && j < plain.size(); ++j) {
      same = std::abs(plain[j] / divisors[j] - frequencies[j]) <= 1e-5f * frequencies[j];
    }
    if (same) {
      c.scaling = scaled.scaling;
      return;
    }
  }
  c.rope_divisors.assign(divisors.begin(), divisors.end());
}

void check_sizes_of(const gguf_file& file, const model_config& c) {
  try {
    check_sizes(c);
  } catch (const std::invalid_argument& e) {
    throw llm_file_error(file.path().string() + ": " + e.what());
  }
}

}  // namespace

model_config read_model_config(const gguf_file& file) {
  const std::string architecture(file.get<std::string_view>("general.architecture"));
  model_config c;
  if (architecture == "llama")
    c.family = model_family::llama;
  else if (architecture == "qwen2")
    c.family = model_family::qwen2;
  else if (architecture == "qwen3")
    c.family = model_family::qwen3;
  else
    throw file.error("general.architecture", "expected llama, qwen2 or qwen3, got \"" +
                                                 detail::printable(architecture, 60) + '"');
  const auto key = [&](const char* name) { return architecture + '.' + name; };
  const auto whole = [&](const char* name) { return file.get<std::int64_t>(key(name)); };
  const auto whole_or = [&](const char* name, std::int64_t otherwise) {
    const auto* value = file.find<std::int64_t>(key(name));
    return value ? *value : otherwise;
  };
  const auto real_or = [&](const char* name, double otherwise) {
    const auto* value = file.find<double>(key(name));
    return value ? *value : otherwise;
  };
  c.hidden_size = whole("embedding_length");
  c.intermediate_size = whole("feed_forward_length");
  c.layers = whole("block_count");
  c.heads = whole("attention.head_count");
  c.kv_heads = whole_or("attention.head_count_kv", c.heads);
  c.head_dim = whole_or("attention.key_length", c.heads > 0 ? c.hidden_size / c.heads : 0);
  for (const char* name : {"attention.value_length", "rope.dimension_count"}) {
    if (whole_or(name, c.head_dim) != c.head_dim)
      throw file.error(key(name), "expected the size of a head, " + std::to_string(c.head_dim) +
                                      ", got " + std::to_string(whole(name)));
  }
  c.max_positions = whole("context_length");
  c.rms_norm_eps = file.get<double>(key("attention.layer_norm_rms_epsilon"));
  c.rope_theta = real_or("rope.freq_base", 10000.0);
  const auto embedding = file.tensors().find("token_embd.weight");
  if (embedding == file.tensors().end() || embedding->second.shape.size() != 2)
    throw file.error("general.architecture",
                     "expected a tensor token_embd.weight of two dimensions");
  c.vocab_size = embedding->second.shape[0];
  c.tied_embeddings = !file.tensors().contains("output.weight");
  c.qkv_bias = file.tensors().contains("blk.0.attn_q.bias");
  c.output_bias = file.tensors().contains("blk.0.attn_output.bias");
  c.qk_norm = c.family == model_family::qwen3;

  if (const auto* type = file.find<std::string_view>(key("rope.scaling.type"));
      type && *type != "none") {
    auto& s = c.scaling;
    s.factor = file.get<double>(key("rope.scaling.factor"));
    if (*type == "linear") {
      s.type = rope_scaling::kind::linear;
    } else if (*type == "yarn") {
      s.type = rope_scaling::kind::yarn;
      s.original_max_positions = whole_or("rope.scaling.original_context_length", c.max_positions);
      s.attention_factor = s.factor <= 1 ? 1 : 0.1 * std::log(s.factor) + 1;
    } else {
      throw file.error(key("rope.scaling.type"), "expected none, linear or yarn, got \"" +
                                                     detail::printable(*type, 60) + '"');
    }
  }
  if (const auto at = file.tensors().find("rope_freqs.weight"); at != file.tensors().end()) {
    std::vector<float> divisors(static_cast<std::size_t>(at->second.elements()));
    check_sizes_of(file, c);
    copy_floats(at->second, divisors);
    read_divisors(divisors, c);
  }
  if (const auto* eos = file.find<std::int64_t>("tokenizer.ggml.eos_token_id"))
    c.eos_tokens = {*eos};
  check_sizes_of(file, c);
  return c;
}

}  // namespace troupe::llm

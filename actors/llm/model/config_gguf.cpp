// Reads a model's shape from GGUF metadata (docs/gguf.md of ggml, section "[llm]").
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

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

/// True if the value is 0, false or empty, as for a part of the arithmetic that a model lacks.
bool is_nothing(const gguf_value& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return !*truth;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole == 0;
  if (const auto* real = std::get_if<double>(&value)) return *real == 0;
  if (const auto* text = std::get_if<std::string_view>(&value)) return text->empty();
  return false;
}

/// Refuses the keys of the architecture that are not known here, since they may change the
/// arithmetic: a window, experts, caps, factors. What is known is read, or has the value that
/// changes nothing.
void refuse_arithmetic(const gguf_file& file, const std::string& architecture) {
  static const std::set<std::string_view> read{
      "embedding_length", "feed_forward_length", "block_count", "attention.head_count",
      "attention.head_count_kv", "attention.key_length", "attention.value_length",
      "rope.dimension_count", "context_length", "attention.layer_norm_rms_epsilon",
      "rope.freq_base", "rope.scaling.type", "rope.scaling.factor",
      "rope.scaling.original_context_length", "rope.scale_linear", "rope.scaling.yarn_beta_fast",
      "rope.scaling.yarn_beta_slow",
      // without arithmetic
      "vocab_size", "tensor_data_layout", "rope.scaling.finetuned", "pooling_type"};
  const auto prefix = architecture + '.';
  for (const auto& [key, value] : file.metadata()) {
    if (!key.starts_with(prefix)) continue;
    const auto name = std::string_view(key).substr(prefix.size());
    if (read.contains(name) || is_nothing(value)) continue;
    if (name == "attention.causal" && value == gguf_value(true)) continue;
    const bool is_factor = name.ends_with("_scale") || name == "rope.scaling.attn_factor";
    if (is_factor && value == gguf_value(1.0)) continue;
    throw file.error(key, "expected no such key: what it does isn't known here");
  }
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
  if (const auto* type = file.find<std::string_view>("general.type"); type && *type == "adapter")
    throw file.error("general.type",
                     "expected a model, got LoRA adapters: PEFT's form of them is read "
                     "(adapter_config.json and adapter_model.safetensors)");
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
      s.beta_fast = real_or("rope.scaling.yarn_beta_fast", s.beta_fast);
      s.beta_slow = real_or("rope.scaling.yarn_beta_slow", s.beta_slow);
    } else {
      throw file.error(key("rope.scaling.type"), "expected none, linear or yarn, got \"" +
                                                     detail::printable(*type, 60) + '"');
    }
  }
  if (const double factor = real_or("rope.scale_linear", 1.0);
      factor != 1.0 && c.scaling.type == rope_scaling::kind::none) {  // the name of before 2023-10
    c.scaling.type = rope_scaling::kind::linear;
    c.scaling.factor = factor;
  }
  refuse_arithmetic(file, architecture);
  if (const auto at = file.tensors().find("rope_freqs.weight"); at != file.tensors().end()) {
    std::vector<float> divisors(static_cast<std::size_t>(at->second.elements()));
    check_sizes_of(file, c);
    copy_floats(at->second, divisors);
    read_divisors(divisors, c);
  }
  if (const auto* eos = file.find<std::int64_t>("tokenizer.ggml.eos_token_id"))
    c.eos_tokens = {*eos};
  // The ends of a turn and of a message are further tokens that end a text.
  for (const char* name : {"eot_token_id", "eom_token_id"}) {
    const auto* id = file.find<std::int64_t>(std::string("tokenizer.ggml.") + name);
    if (id && std::ranges::find(c.eos_tokens, *id) == c.eos_tokens.end())
      c.eos_tokens.push_back(*id);
  }
  const auto token = [&](const char* name) -> std::optional<std::int64_t> {
    const auto* id = file.find<std::int64_t>(std::string("tokenizer.ggml.") + name);
    return id && *id >= 0 && *id < c.vocab_size ? std::optional(*id) : std::nullopt;
  };
  c.bos_token = token("bos_token_id");
  c.pad_token = token("padding_token_id");
  check_sizes_of(file, c);
  return c;
}

}  // namespace troupe::llm

#pragma once
// The shape of a language model, and its reading from files.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace troupe::llm {

class gguf_file;

enum class model_family { llama, qwen2, qwen3 };

/// The scaling of the angles of rotary position embeddings for contexts longer than those of
/// pre-training. Names and formulas are those of transformers, modeling_rope_utils.py.
struct rope_scaling {
  enum class kind { none, linear, llama3, yarn } type = kind::none;
  double factor = 1.0;
  std::int64_t original_max_positions = 0;               ///< llama3, yarn; in tokens
  double low_freq_factor = 1.0, high_freq_factor = 4.0;  ///< llama3
  double beta_fast = 32.0, beta_slow = 1.0;              ///< yarn
  double attention_factor = 1.0;                         ///< yarn: multiplies cosine and sine
  bool truncate = true;  ///< yarn: the ramp begins and ends at whole dimensions
};

/// The shape of a decoder: Llama, Qwen2 and Qwen3 differ in these numbers and three switches.
struct model_config {
  model_family family = model_family::llama;
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  ///< a divisor of heads (grouped-query attention)
  std::int64_t head_dim = 0;
  std::int64_t vocab_size = 0;     ///< rows of the embedding; the tokenizer may have fewer tokens
  std::int64_t max_positions = 0;  ///< the longest context, in tokens
  double rms_norm_eps = 1e-6;
  double rope_theta = 10000.0;
  rope_scaling scaling = {};
  /// One divisor for each frequency, if a GGUF file has them; else empty.
  std::vector<double> rope_divisors = {};
  bool tied_embeddings = false;  ///< the embedding is also the head
  bool qkv_bias = false;         ///< q, k and v have biases, as in Qwen2
  bool output_bias = false;      ///< o has a bias; Llama's and Qwen3's attention_bias sets both
  bool qk_norm = false;          ///< RMSNorm of each head's query and key, as in Qwen3
  std::vector<std::int64_t> eos_tokens = {};  ///< each of them ends a text
  std::optional<std::int64_t> bos_token = {}, pad_token = {};

  std::int64_t q_size() const { return heads * head_dim; }
  std::int64_t kv_size() const { return kv_heads * head_dim; }
};

/// Reads a checkpoint's config.json, and the stop tokens of generation_config.json beside it.
/// Throws llm_file_error that names the field for an architecture that isn't one of the three,
/// quantised weights, code of the model's own, an unknown field that may change the arithmetic
/// (config_keys.hpp), an unsupported value, and sizes that don't fit together.
model_config read_model_config(const std::filesystem::path& config_json);

/// Reads the same from the metadata of a GGUF file.
model_config read_model_config(const gguf_file& file);

/// The text of a config.json that transformers can read.
std::string to_config_json(const model_config& config);

/// Throws std::invalid_argument that names the wrong size, unless all sizes are above 0 and within
/// bounds that keep every product below 2^62, heads is a multiple of kv_heads, and head_dim is
/// even.
void check_sizes(const model_config& config);

/// The frequencies of the rotary embeddings [head_dim / 2], in float as transformers computes them.
std::vector<float> rope_frequencies(const model_config& config);

}  // namespace troupe::llm

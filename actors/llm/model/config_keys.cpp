#include "actors/llm/model/config_keys.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <vector>

namespace troupe::llm {
namespace {

using nlohmann::json;

// Keys that transformers writes or reads for every architecture and that no forward pass uses, and
// the options of its generation, which older versions kept in config.json.
const std::set<std::string_view> without_arithmetic{
    "_attn_implementation",
    "_attn_implementation_autoset",
    "_attn_implementation_internal",
    "_commit_hash",
    "_flash_attn_2_enabled",
    "_from_model_config",
    "_name_or_path",
    "attn_implementation",
    "auto_map",  // own_code_of has refused the code that would be run
    "bad_words_ids",
    "begin_suppress_tokens",
    "bos_token_id",
    "decoder_start_token_id",
    "diversity_penalty",
    "do_sample",
    "dtype",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "exponential_decay_length_penalty",
    "finetuning_task",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "gradient_checkpointing",
    "id2label",
    "initializer_range",
    "is_llama_config",
    "label2id",
    "length_penalty",
    "max_length",
    "min_length",
    "model_max_length",
    "neftune_noise_alpha",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_return_sequences",
    "output_attentions",
    "output_hidden_states",
    "output_scores",
    "pad_token_id",
    "prefix",
    "pretraining_tp",
    "problem_type",
    "remove_invalid_values",
    "repetition_penalty",
    "return_dict",
    "return_dict_in_generate",
    "sep_token_id",
    "suppress_tokens",
    "task_specific_params",
    "temperature",
    "tf_legacy_loss",
    "tokenizer_class",
    "top_k",
    "top_p",
    "torch_dtype",
    "torchscript",
    "transformers.js_config",
    "transformers_version",
    "typical_p",
    "unsloth_fixed",
    "unsloth_version",
    "use_bfloat16",
    "use_cache",
};

// Switches with the value, in JSON, that changes nothing in the three architectures.
struct switch_at_rest {
  const char* key;
  const char* value;
};
constexpr std::array switches{
    switch_at_rest{"add_cross_attention", "false"},
    switch_at_rest{"alibi", "false"},
    switch_at_rest{"chunk_size_feed_forward", "0"},
    switch_at_rest{"embd_pdrop", "0"},
    switch_at_rest{"embedding_multiplier", "1"},
    switch_at_rest{"hidden_dropout", "0"},
    switch_at_rest{"is_causal", "true"},
    switch_at_rest{"is_decoder", "false"},
    switch_at_rest{"is_decoder", "true"},
    switch_at_rest{"is_encoder_decoder", "false"},
    switch_at_rest{"logit_scale", "1"},
    switch_at_rest{"logits_scaling", "1"},
    switch_at_rest{"num_experts", "0"},
    switch_at_rest{"num_local_experts", "0"},
    switch_at_rest{"partial_rotary_factor", "1"},
    switch_at_rest{"pruned_heads", "{}"},
    switch_at_rest{"resid_pdrop", "0"},
    switch_at_rest{"residual_multiplier", "1"},
    switch_at_rest{"tie_encoder_decoder", "false"},
    switch_at_rest{"use_mrope", "false"},
};

// The beginnings of words that name a part of the arithmetic.
constexpr std::array<std::string_view, 50> arithmetic{
    "act",    "adapter",  "alibi",   "alpha",  "attention", "attn",  "beta",   "bias",   "cap",
    "causal", "clip",     "cross",   "dtype",  "embed",     "eps",   "expert", "factor", "ffn",
    "gate",   "gating",   "head",    "hidden", "kernel",    "layer", "logit",  "lora",   "mask",
    "mlp",    "moe",      "multipl", "norm",   "parallel",  "pos",   "qk",     "quant",  "resid",
    "rms",    "rope",     "rotary",  "rout",   "scal",      "skip",  "soft",   "spars",  "theta",
    "tie",    "transpos", "weight",  "window", "yarn"};

// Words that name a note.
const std::set<std::string_view> notes{
    "author",   "authors",  "by",      "comment",     "comments", "commit",    "company",
    "created",  "creator",  "dataset", "datasets",    "date",     "described", "description",
    "hash",     "language", "license", "licence",     "name",     "note",      "notes",
    "org",      "origin",   "path",    "publisher",   "repo",     "source",    "tag",
    "tags",     "time",     "title",   "timestamp",   "tool",     "url",       "version",
    "versions", "uri",      "website", "organization"};

/// The words of a key in small letters: "some_tool.Version" has three.
std::vector<std::string> words_of(const std::string& key) {
  std::vector<std::string> words(1);
  for (const char letter : key) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte))
      words.back() += static_cast<char>(std::tolower(byte));
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool is_texts(const json& value) {
  return value.is_string() || (value.is_array() && std::ranges::all_of(value, [](const json& one) {
                                 return one.is_string();
                               }));
}

bool is_nothing(const json& value) {
  return value == false || ((value.is_structured()) && value.empty()) ||
         (value.is_string() && value.get_ref<const std::string&>().empty());
}

std::string text_at(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

bool is_true(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && *at == true;
}

}  // namespace

key_use use_of_key(const std::string& key, const json& value) {
  if (value.is_null() || without_arithmetic.contains(key)) return key_use::pass;
  for (const auto& known : switches) {
    if (key == known.key && value == json::parse(known.value)) return key_use::pass;
  }
  const auto words = words_of(key);
  const auto is_arithmetic = [](const std::string& word) {
    return std::ranges::any_of(arithmetic,
                               [&](std::string_view begin) { return word.starts_with(begin); });
  };
  if (std::ranges::any_of(words, is_arithmetic)) return key_use::refuse;
  if (is_nothing(value)) return key_use::tell;
  const bool is_note =
      std::ranges::any_of(words, [](const std::string& word) { return notes.contains(word); });
  return is_note && is_texts(value) ? key_use::tell : key_use::refuse;
}

std::optional<std::string> quantisation_of(const json& config) {
  for (const char* key : {"quantization_config", "quantization", "compression_config"}) {
    const auto at = config.find(key);
    if (at == config.end() || at->is_null() || (at->is_object() && at->empty())) continue;
    if (!at->is_object()) return "an unknown method";
    const auto method = text_at(*at, "quant_method");
    std::vector<std::string> details;
    const auto bits = at->find("bits");
    if (bits != at->end() && bits->is_number_unsigned()) details.push_back(bits->dump() + " bits");
    if (is_true(*at, "load_in_4bit") || is_true(*at, "_load_in_4bit"))
      details.emplace_back("4 bits");
    if (is_true(*at, "load_in_8bit") || is_true(*at, "_load_in_8bit"))
      details.emplace_back("8 bits");
    for (const char* name : {"bnb_4bit_quant_type", "format", "fmt"}) {
      if (const auto text = text_at(*at, name); !text.empty()) details.push_back(text);
    }
    std::string all = method.empty() ? "an unknown method" : method;
    for (std::size_t i = 0; i < details.size(); ++i) all += (i == 0 ? " (" : ", ") + details[i];
    return details.empty() ? all : all + ')';
  }
  return std::nullopt;
}

std::optional<std::string> own_code_of(const json& config) {
  const auto at = config.find("auto_map");
  if (at == config.end() || !at->is_object()) return std::nullopt;
  for (const auto& [key, value] : at->items()) {
    if (!key.starts_with("AutoModel") && key != "AutoConfig") continue;
    return value.is_string() ? value.get<std::string>() : key;
  }
  return std::nullopt;
}

}  // namespace troupe::llm

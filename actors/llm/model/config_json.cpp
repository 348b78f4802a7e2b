// Reads and writes config.json.
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "actors/llm/files/json_file.hpp"
#include "actors/llm/files/llm_file_error.hpp"
#include "actors/llm/model/config_keys.hpp"
#include "actors/llm/model/model_config.hpp"
#include "runtime/base/told_once.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::llm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The fields of a JSON object. A field that is never asked for is unknown.
class field_reader {
 public:
  field_reader(const json& object, std::string place) : object_(object), place_(std::move(place)) {
    if (object.is_object()) return;
    const auto end = place_.ends_with(": ") ? place_.size() - 2 : place_.size();
    throw llm_file_error(place_.substr(0, end) + ": expected an object, got " + object.type_name());
  }

  llm_file_error error(const std::string& field, const std::string& expected) const {
    const auto value = object_.contains(field) ? object_[field].dump(-1, ' ', true) : "nothing";
    return llm_file_error(place_ + '/' + detail::printable(field, 60) + ": expected " + expected +
                          ", got " + detail::printable(value, 100));
  }

  /// The value of a field, or null if there is none.
  const json& at(const std::string& field) {
    static const json null;
    asked_.insert(field);
    return object_.contains(field) ? object_[field] : null;
  }
  std::optional<std::int64_t> find_whole(const std::string& field) {
    const auto& value = at(field);
    if (value.is_null()) return std::nullopt;
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() >> 62)
      throw error(field, "a whole number");
    return value.get<std::int64_t>();
  }
  std::int64_t whole(const std::string& field) {
    const auto value = find_whole(field);
    if (!value) throw error(field, "a whole number");
    return *value;
  }
  double real(const std::string& field, std::optional<double> otherwise) {
    const auto& value = at(field);
    if (value.is_null() && otherwise) return *otherwise;
    if (!value.is_number()) throw error(field, "a number");
    return value.get<double>();
  }
  bool truth(const std::string& field, bool otherwise) {
    const auto& value = at(field);
    if (value.is_null()) return otherwise;
    if (!value.is_boolean()) throw error(field, "true or false");
    return value.get<bool>();
  }
  std::string text(const std::string& field, const std::string& otherwise) {
    const auto& value = at(field);
    if (value.is_null()) return otherwise;
    if (!value.is_string()) throw error(field, "a text");
    return value.get<std::string>();
  }
  /// Accepts fields that don't change the computation.
  void pass_over(std::initializer_list<const char*> fields) {
    asked_.insert(fields.begin(), fields.end());
  }
  /// Refuses the unknown fields of an object that is about the arithmetic alone, but those that
  /// change nothing.
  void refuse_others() const {
    for (const auto& [field, value] : object_.items()) {
      if (!asked_.contains(field) && use_of_key(field, value) != key_use::pass)
        throw unknown(field);
    }
  }
  /// Refuses the unknown fields that may change the computation, by the rule of config_keys.hpp.
  /// Returns the names of those that are to be told.
  std::string refuse_arithmetic() const {
    std::string told;
    for (const auto& [field, value] : object_.items()) {
      if (asked_.contains(field)) continue;
      const auto use = use_of_key(field, value);
      if (use == key_use::refuse) throw unknown(field);
      if (use == key_use::tell) told += (told.empty() ? "" : ", ") + detail::printable(field, 60);
    }
    return told;
  }

 private:
  llm_file_error unknown(const std::string& field) const {
    return error(field, "no such field: what it does isn't known here");
  }

  const json& object_;
  std::string place_;
  std::set<std::string, std::less<>> asked_;
};

struct known_family {
  const char* type;
  const char* architecture;
  model_family family;
};
constexpr std::array<known_family, 3> families{
    {{"llama", "LlamaForCausalLM", model_family::llama},
     {"qwen2", "Qwen2ForCausalLM", model_family::qwen2},
     {"qwen3", "Qwen3ForCausalLM", model_family::qwen3}}};

model_family read_family(field_reader& fields) {
  const auto type = fields.text("model_type", "");
  for (const auto& known : families) {
    if (type != known.type) continue;
    const auto& architectures = fields.at("architectures");
    if (!architectures.is_null() && architectures != json::array({known.architecture}))
      throw fields.error("architectures", std::string("[\"") + known.architecture + "\"]");
    return known.family;
  }
  throw fields.error("model_type", "llama, qwen2 or qwen3");
}

// Reads the rotary embeddings. transformers 5 writes one object "rope_parameters". Earlier versions
// write "rope_theta" and "rope_scaling", which is null without scaling. If a file has both forms,
// the new one counts.
void read_rope(field_reader& fields, const std::string& place, model_config& c) {
  fields.pass_over({"rope_scaling"});
  const std::string name =
      fields.at("rope_parameters").is_null() ? "rope_scaling" : "rope_parameters";
  c.rope_theta = fields.real("rope_theta", 10000.0);
  const auto& object = fields.at(name);
  if (object.is_null()) return;
  field_reader rope(object, place + '/' + name);
  c.rope_theta = rope.real("rope_theta", c.rope_theta);
  const auto old_name = rope.text("type", "default");
  const auto type = rope.text("rope_type", old_name);
  auto& s = c.scaling;
  if (type == "default") {
    rope.pass_over({"factor"});
  } else if (type == "dynamic") {
    // This only changes contexts longer than max_position_embeddings, which are refused.
    rope.pass_over({"factor", "original_max_position_embeddings"});
  } else if (type == "linear") {
    s.type = rope_scaling::kind::linear;
    s.factor = rope.real("factor", std::nullopt);
  } else if (type == "llama3") {
    s.type = rope_scaling::kind::llama3;
    s.factor = rope.real("factor", std::nullopt);
    s.low_freq_factor = rope.real("low_freq_factor", std::nullopt);
    s.high_freq_factor = rope.real("high_freq_factor", std::nullopt);
    s.original_max_positions = rope.whole("original_max_position_embeddings");
  } else if (type == "yarn") {
    s.type = rope_scaling::kind::yarn;
    s.factor = rope.real("factor", std::nullopt);
    s.original_max_positions =
        rope.find_whole("original_max_position_embeddings").value_or(c.max_positions);
    s.beta_fast = rope.real("beta_fast", 32.0);
    s.beta_slow = rope.real("beta_slow", 1.0);
    s.truncate = rope.truth("truncate", true);
    const double usual = s.factor <= 1 ? 1 : 0.1 * std::log(s.factor) + 1;
    s.attention_factor = rope.real("attention_factor", usual);
  } else {
    throw rope.error(rope.at("rope_type").is_null() ? "type" : "rope_type",
                     "default, linear, dynamic, llama3 or yarn");
  }
  rope.refuse_others();
}

/// The id of a token that the model has, or none. Some models have -1 for a token that they lack.
std::optional<std::int64_t> read_token(field_reader& fields, const char* field) {
  const auto& value = fields.at(field);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() >> 31) return std::nullopt;
  return value.get<std::int64_t>();
}

std::vector<std::int64_t> read_eos(field_reader& fields) {
  const auto& value = fields.at("eos_token_id");
  if (value.is_null()) return {};
  std::vector<std::int64_t> ids;
  for (const auto& id : value.is_array() ? value : json::array({value})) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >> 31)
      throw fields.error("eos_token_id", "an id, or a list of them");
    ids.push_back(id.get<std::int64_t>());
  }
  return ids;
}

void read_attention(field_reader& fields, model_config& c) {
  const bool bias = fields.truth("attention_bias", c.family == model_family::qwen2);
  if (c.family == model_family::qwen2 && !bias)
    throw fields.error("attention_bias", "true for qwen2");
  c.qkv_bias = bias;
  c.output_bias = bias && c.family != model_family::qwen2;
  c.qk_norm = c.family == model_family::qwen3;
  if (fields.truth("mlp_bias", false)) throw fields.error("mlp_bias", "false");
  if (fields.text("hidden_act", "silu") != "silu") throw fields.error("hidden_act", "silu");
  if (fields.truth("use_sliding_window", false)) throw fields.error("use_sliding_window", "false");
  const auto& types = fields.at("layer_types");
  if (!types.is_null()) {
    if (!types.is_array()) throw fields.error("layer_types", "a list");
    for (const auto& type : types) {
      if (type != "full_attention")
        throw fields.error("layer_types", "full_attention in every layer");
    }
  }
  if (fields.real("attention_dropout", 0.0) != 0.0) throw fields.error("attention_dropout", "0");
  if (fields.truth("rope_interleaved", false)) throw fields.error("rope_interleaved", "false");
  fields.pass_over({"sliding_window", "max_window_layers"});  // the window isn't used
}

}  // namespace

model_config read_model_config(const fs::path& path) {
  const auto document = read_model_json(path);
  field_reader fields(document, path.string() + ": ");
  model_config c;
  c.family = read_family(fields);
  if (const auto by = quantisation_of(document))
    throw llm_file_error(path.string() + ": these weights are quantised by " +
                         detail::printable(*by, 100) +
                         ", which is not read: take the original model, or a GGUF file of it");
  if (const auto code = own_code_of(document))
    throw llm_file_error(path.string() + ": /auto_map: the model has code of its own, " +
                         detail::printable(*code, 100) + ", which is not run");
  fields.pass_over({"quantization_config", "quantization", "compression_config"});  // null or {}
  c.hidden_size = fields.whole("hidden_size");
  c.intermediate_size = fields.whole("intermediate_size");
  c.layers = fields.whole("num_hidden_layers");
  c.heads = fields.whole("num_attention_heads");
  c.kv_heads = fields.find_whole("num_key_value_heads").value_or(c.heads);
  const auto per_head = c.heads > 0 ? c.hidden_size / c.heads : 0;
  c.head_dim =
      fields.find_whole("head_dim").value_or(c.family == model_family::qwen3 ? 128 : per_head);
  c.vocab_size = fields.whole("vocab_size");
  c.max_positions = fields.whole("max_position_embeddings");
  c.rms_norm_eps = fields.real("rms_norm_eps", 1e-6);
  c.tied_embeddings = fields.truth("tie_word_embeddings", false);
  read_rope(fields, path.string() + ": ", c);
  read_attention(fields, c);
  c.eos_tokens = read_eos(fields);
  c.bos_token = read_token(fields, "bos_token_id");
  c.pad_token = read_token(fields, "pad_token_id");
  if (const auto told = fields.refuse_arithmetic(); !told.empty())
    log::warn_once("fields of a model that have no meaning here are passed over",
                   {{"file", path.string()}, {"fields", told}});
  try {
    check_sizes(c);
  } catch (const std::invalid_argument& e) {
    throw llm_file_error(path.string() + ": " + e.what());
  }
  const auto generation = path.parent_path() / "generation_config.json";
  if (fs::exists(generation)) {
    const auto beside = read_model_json(generation);
    field_reader more(beside, generation.string() + ": ");
    if (auto ids = read_eos(more); !ids.empty()) c.eos_tokens = std::move(ids);
    if (const auto id = read_token(more, "bos_token_id")) c.bos_token = id;
    if (const auto id = read_token(more, "pad_token_id")) c.pad_token = id;
  }
  return c;
}

std::string to_config_json(const model_config& c) {
  const auto& known = families[static_cast<std::size_t>(c.family)];
  nlohmann::ordered_json rope{{"rope_theta", c.rope_theta}};
  const auto& s = c.scaling;
  switch (s.type) {
    case rope_scaling::kind::none:
      rope["rope_type"] = "default";
      break;
    case rope_scaling::kind::linear:
      rope["rope_type"] = "linear";
      break;
    case rope_scaling::kind::llama3:
      rope["rope_type"] = "llama3";
      rope["low_freq_factor"] = s.low_freq_factor;
      rope["high_freq_factor"] = s.high_freq_factor;
      break;
    case rope_scaling::kind::yarn:
      rope["rope_type"] = "yarn";
      rope["beta_fast"] = s.beta_fast;
      rope["beta_slow"] = s.beta_slow;
      rope["truncate"] = s.truncate;
      rope["attention_factor"] = s.attention_factor;
      break;
  }
  if (s.type != rope_scaling::kind::none) rope["factor"] = s.factor;
  if (s.original_max_positions > 0) {
    rope["original_max_position_embeddings"] = s.original_max_positions;
  }
  // Both forms are written, since transformers 4 reads the second.
  nlohmann::ordered_json scaling = nullptr;
  if (s.type != rope_scaling::kind::none) {
    scaling = rope;
    scaling.erase("rope_theta");
  }
  nlohmann::ordered_json out{{"architectures", {known.architecture}},
                             {"model_type", known.type},
                             {"hidden_size", c.hidden_size},
                             {"intermediate_size", c.intermediate_size},
                             {"num_hidden_layers", c.layers},
                             {"num_attention_heads", c.heads},
                             {"num_key_value_heads", c.kv_heads},
                             {"head_dim", c.head_dim},
                             {"hidden_act", "silu"},
                             {"vocab_size", c.vocab_size},
                             {"max_position_embeddings", c.max_positions},
                             {"rms_norm_eps", c.rms_norm_eps},
                             {"rope_parameters", rope},
                             {"rope_theta", c.rope_theta},
                             {"rope_scaling", scaling},
                             {"tie_word_embeddings", c.tied_embeddings},
                             {"torch_dtype", "float32"}};
  if (c.family != model_family::qwen2) out["attention_bias"] = c.qkv_bias;
  if (c.eos_tokens.size() == 1) out["eos_token_id"] = c.eos_tokens[0];
  if (c.eos_tokens.size() > 1) out["eos_token_id"] = c.eos_tokens;
  if (c.bos_token) out["bos_token_id"] = *c.bos_token;
  if (c.pad_token) out["pad_token_id"] = *c.pad_token;
  return out.dump(2) + '\n';
}

}  // namespace troupe::llm

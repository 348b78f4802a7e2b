#pragma once
// The keys of a config.json that the reader of models doesn't read (config_json.cpp).

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace troupe::llm {

/// What the reader does with a key that it doesn't read. A key is passed over only if its value
/// can't change the arithmetic. Everything else is refused, since a model that is computed in
/// another way than its authors compute it gives wrong answers without an error.
enum class key_use {
  pass,   ///< the key has no meaning for the arithmetic, or it has the value that changes nothing
  tell,   ///< the key looks like a note, and a warning names it
  refuse  ///< the key may change the arithmetic
};

/// The rule, which docs/guides/language_models.md explains:
/// - null is as if the key were absent.
/// - Known keys without arithmetic, such as transformers_version, pass. Known switches pass with
/// the
///   value that changes nothing.
/// - false, an empty text, list or object, and texts with a word for a note in the key (version,
///   name, date, ...) pass with a warning, unless the key has a word of the arithmetic (norm, rope,
///   scale, ...).
/// - Anything else is refused.
key_use use_of_key(const std::string& key, const nlohmann::json& value);

/// The quantisation that a config.json names, in words such as "bitsandbytes (4 bits, nf4)". None
/// if the weights are not quantised.
std::optional<std::string> quantisation_of(const nlohmann::json& config);

/// The model's own code that a config.json names ("modeling_own.OwnForCausalLM"), which
/// transformers runs with trust_remote_code. None if there is no such code.
std::optional<std::string> own_code_of(const nlohmann::json& config);

}  // namespace troupe::llm

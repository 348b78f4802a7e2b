#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "actors/llm/tokenizer/tokenizer.hpp"

namespace troupe::llm {

/// The parts of a tokenizer as the tokenizers library writes it. `place` begins every message.
/// Throws llm_file_error for a kind of model, normaliser, pre-tokeniser, post-processor or decoder
/// that isn't known here, and for a field with a value that would change the ids.
tokenizer_parts parts_of_json(const nlohmann::json& document, const std::string& place);

/// The same the other way: a document that parts_of_json, and the tokenizers library, read as these
/// parts.
nlohmann::json json_of_parts(const tokenizer_parts& parts);

}  // namespace troupe::llm

#pragma once
// The format of Hugging Face's tokenizer.json, for read_tokenizer and write_tokenizer.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "actors/llm/tokenizer/tokenizer.hpp"

namespace troupe::llm {

/// Reads the parts of a tokenizer from a tokenizer.json of the tokenizers library. `place` begins
/// every message. Throws llm_file_error for an unsupported kind of model, normaliser,
/// pre-tokeniser, post-processor or decoder, and for an unsupported value that would change the
/// ids.
tokenizer_parts parts_of_json(const nlohmann::json& document, const std::string& place);

/// The tokenizer.json of these parts, which parts_of_json and the tokenizers library can read.
nlohmann::json json_of_parts(const tokenizer_parts& parts);

}  // namespace troupe::llm

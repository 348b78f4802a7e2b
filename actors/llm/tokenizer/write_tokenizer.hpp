#pragma once

#include <filesystem>
#include <string>

#include "actors/llm/tokenizer/tokenizer.hpp"

namespace troupe::llm {

/// Writes tokenizer.json and tokenizer_config.json, and where there is a chat template
/// chat_template.jinja, into a folder that is there: what a model's folder holds beside the
/// network, as transformers and read_tokenizer read it. `end`: the text of the token that ends an
/// answer. Each file is the old or the new one, whole. Throws std::system_error naming the file.
void write_tokenizer(const std::filesystem::path& folder, const tokenizer_parts& parts,
                     const std::string& end, const std::string& chat_template = "");

}  // namespace troupe::llm

#pragma once
// Writes the files of a tokenizer, beside those of write_model (read_model.hpp).

#include <filesystem>
#include <map>
#include <string>

#include "actors/llm/tokenizer/tokenizer.hpp"

namespace troupe::llm {

/// Writes tokenizer.json, tokenizer_config.json and, if there is a chat template,
/// chat_template.jinja into an existing folder. transformers and read_tokenizer can read them.
/// `end` is the text of the token that ends an answer. `special_tokens` are the texts of further
/// ones by their names in tokenizer_config.json, such as bos_token, which chat templates may write;
/// an eos_token among them is written only if the template writes it. Each file is replaced
/// atomically. Throws std::system_error that names the file.
void write_tokenizer(const std::filesystem::path& folder, const tokenizer_parts& parts,
                     const std::string& end, const std::string& chat_template = "",
                     const std::map<std::string, std::string, std::less<>>& special_tokens = {});

}  // namespace troupe::llm

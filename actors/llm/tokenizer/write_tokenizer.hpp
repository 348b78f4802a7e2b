#pragma once
// Writes the files of a tokenizer, beside those of write_model (read_model.hpp).

#include <filesystem>
#include <string>

#include "actors/llm/tokenizer/chat_template.hpp"
#include "actors/llm/tokenizer/tokenizer.hpp"

namespace troupe::llm {

/// Writes tokenizer.json, tokenizer_config.json and the chat templates into an existing folder:
/// "default" as chat_template.jinja, and others as additional_chat_templates/NAME.jinja. A template
/// whose name is no name of a file is left out with a warning. transformers and read_tokenizer can
/// read them.
/// `end` is the text of the token that ends an answer. `special_tokens` are the texts of further
/// ones by their names in tokenizer_config.json, such as bos_token, which chat templates may write;
/// an eos_token among them is written only if a template writes it. Each file is replaced
/// atomically. Throws std::system_error that names the file.
void write_tokenizer(const std::filesystem::path& folder, const tokenizer_parts& parts,
                     const std::string& end, const named_templates& templates = {},
                     const named_tokens& special_tokens = {});

}  // namespace troupe::llm

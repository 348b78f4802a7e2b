#pragma once

#include <filesystem>

#include "actors/llm/tokenizer/tokenizer.hpp"

namespace troupe::llm {

class gguf_file;

/// Reads a tokenizer: a `tokenizer.json`, a folder that has one, or a GGUF file. Throws
/// llm_file_error naming the field for all that isn't byte-level BPE as the families have it.
tokenizer read_tokenizer(const std::filesystem::path& path);

/// The same in two steps, for who needs the parts, too. `path` is where they are from.
tokenizer_parts read_tokenizer_parts(const std::filesystem::path& path);
tokenizer put_together(tokenizer_parts parts, const std::filesystem::path& path);

/// The tokenizer of a GGUF file that is open already.
tokenizer read_tokenizer(const gguf_file& file);

}  // namespace troupe::llm

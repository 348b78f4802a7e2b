#pragma once
// Reads tokenizers from Hugging Face folders and GGUF files.

#include <filesystem>

#include "actors/llm/tokenizer/tokenizer.hpp"

namespace troupe::llm {

class gguf_file;

/// Reads a tokenizer from a `tokenizer.json`, a folder that has one, or a GGUF file. Throws
/// llm_file_error that names the field if it isn't a byte-level BPE of the supported families.
tokenizer read_tokenizer(const std::filesystem::path& path);

/// Two steps that together do the same as read_tokenizer, for callers that also need the parts.
/// `path` is the source of the parts.
tokenizer_parts read_tokenizer_parts(const std::filesystem::path& path);
tokenizer put_together(tokenizer_parts parts, const std::filesystem::path& path);

/// The tokenizer of a GGUF file that is open already.
tokenizer read_tokenizer(const gguf_file& file);

}  // namespace troupe::llm

#pragma once
// Reading of a model's JSON files, with errors that name the file.

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace troupe::llm {

/// The largest JSON file of a model that is read. Llama 3's tokenizer.json has 17 MB.
inline constexpr std::size_t model_json_bytes_max = std::size_t{64} << 20;

/// Reads a JSON file of a model. Throws llm_file_error if it can't be read or parsed.
nlohmann::json read_model_json(const std::filesystem::path& path);

/// Parses a JSON text that is part of another file. `place` names that file in errors.
nlohmann::json parse_model_json(std::string_view text, const std::string& place);

}  // namespace troupe::llm

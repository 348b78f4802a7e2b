#pragma once
// Reading of JSON texts that are larger than configurations, such as tokenizers.

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace troupe {

/// Reads a text as parse_json does, with the limit `bytes_max` in place of json_bytes_max.
nlohmann::json parse_large_json(std::string_view text, std::size_t bytes_max,
                                const std::string& source);

}  // namespace troupe

#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace troupe {

/// parse_json for texts that may be larger than json_bytes_max, and have a bound of their own.
nlohmann::json parse_large_json(std::string_view text, std::size_t bytes_max,
                                const std::string& source);

}  // namespace troupe

#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace troupe {

/// Limits of every JSON text Troupe reads from outside. Deeper values overflow the stack when they
/// are copied or printed.
inline constexpr std::size_t json_bytes_max = std::size_t{16} << 20;
inline constexpr std::size_t json_depth_max = 64;

/// Reads one JSON value (RFC 8259). Stricter than nlohmann::json::parse: duplicate keys, a depth
/// above json_depth_max and texts above json_bytes_max are refused too. `source` names the text in
/// messages. Throws config_error with the JSON pointer where there is one, else with `source` and
/// line and column.
nlohmann::json parse_json(std::string_view text, const std::string& source = "JSON");

/// The same for a file. Throws config_error also where it can not be read.
nlohmann::json read_json_file(const std::filesystem::path& path);

/// Sets one value by its dotted path: `trainer.lr=3e-4` sets /trainer/lr. Objects on the way are
/// created. The value is read as JSON, and as a string where it is not JSON, so `mode=async` works;
/// a string that looks like a number is quoted: `name="7"`. Throws config_error where the text has
/// no `=`, an empty key, a path that leads through something other than an object, or no UTF-8.
void apply_override(nlohmann::json& document, std::string_view path_and_value);

namespace detail {
/// A whole file. Throws config_error where it can not be read or has more bytes.
std::string read_text_file(const std::filesystem::path& path, std::size_t bytes_max);
/// `pointer` extended by one key, escaped after RFC 6901 and as it may stand in a message.
std::string child_pointer(const std::string& pointer, std::string_view key);
/// A value as it stands in a message: JSON on one line, cut at 80 bytes.
std::string show(const nlohmann::json& value);
}  // namespace detail
}  // namespace troupe

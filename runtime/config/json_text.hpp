#pragma once
// Strict reading of JSON texts, and the command line's overrides.

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace troupe {

/// The limits of every JSON text that Troupe reads from outside: the number of bytes, and the depth
/// of nesting. Deeper values would overflow the stack when they are copied or printed.
inline constexpr std::size_t json_bytes_max = std::size_t{16} << 20;
inline constexpr std::size_t json_depth_max = 64;

/// Reads one JSON value (RFC 8259). It is stricter than nlohmann::json::parse: it also refuses
/// duplicate keys, a depth above json_depth_max and texts above json_bytes_max. `source` names the
/// text in messages. Throws config_error with a JSON pointer if there is one, or else with
/// `source`, line and column.
nlohmann::json parse_json(std::string_view text, const std::string& source = "JSON");

/// Reads the JSON value in a file, as parse_json does. Throws config_error also if the file can't
/// be read.
nlohmann::json read_json_file(const std::filesystem::path& path);

/// A JSON object whose keys the schema does not know, such as the arguments of an environment. A
/// field of an options struct may have this type.
struct json_object {
  std::string text = "{}";  ///< The object as JSON on one line.

  /// True if the object has no key.
  bool empty() const { return text == "{}"; }
  bool operator==(const json_object&) const = default;
};

/// Sets one value by its dotted path: `trainer.lr=3e-4` sets /trainer/lr. Missing objects on the
/// path are created. The value is read as JSON. A text that is not JSON is read as a list or an
/// object of YAML's flow style if it begins with `[` or `{`, so `tags=[a,b]` works, and else as a
/// string, so `mode=async` works. A string that looks like a number must be quoted: `name="7"`.
/// Throws config_error if the text has no `=` or an empty key, if the path leads through a value
/// that is not an object, and if the text is not UTF-8.
void apply_override(nlohmann::json& document, std::string_view path_and_value);

namespace detail {
/// Reads a whole file. Throws config_error if the file can't be read or has more than `bytes_max`
/// bytes.
std::string read_text_file(const std::filesystem::path& path, std::size_t bytes_max);
/// Returns `pointer` extended by one key, which is escaped as RFC 6901 and messages require.
std::string child_pointer(const std::string& pointer, std::string_view key);
/// Returns a value as messages show it: JSON on one line, cut at 80 bytes.
std::string show(const nlohmann::json& value);
}  // namespace detail
}  // namespace troupe

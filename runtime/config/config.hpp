#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/config/config_error.hpp"
#include "runtime/config/json_text.hpp"
#include "runtime/config/options_schema.hpp"

/// JSON configuration with a schema. An options struct describes its fields once (see
/// options_schema.hpp); from that come the strict reader, the writer of the resolved configuration
/// and the schema that is printed for people. Who uses nlohmann::json values themselves includes
/// <nlohmann/json.hpp>.
namespace troupe {

/// Reads a whole options struct; keys that are absent keep the value they have in `defaults`.
/// Throws config_error for unknown keys, wrong types, values out of range and broken rules, with
/// path, expectation and value.
template <described_options T>
T parse_config(const nlohmann::json& document, T defaults = {}) {
  detail::struct_kind_of<T>().read(document, &defaults, "", {});
  return defaults;
}

/// The document that a program starts from: the file, an empty object where `file` is empty, with
/// the command line's `a.b=3` applied in order.
nlohmann::json load_config(const std::filesystem::path& file,
                           const std::vector<std::string>& overrides);

/// The resolved configuration, every field with its value. Throws config_error for NaN and
/// infinities. (`Json` is always nlohmann::json; as a parameter it may be incomplete here.)
template <described_options T, class Json = nlohmann::json>
Json to_json(const T& options) {
  Json result;
  detail::struct_kind_of<T>().write(&options, result, "");
  return result;
}

/// JSON Schema (draft 2020-12) of an options struct: types, limits, defaults, units and meaning.
template <described_options T, class Json = nlohmann::json>
Json schema_json() {
  Json result;
  const T defaults{};
  result["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  detail::struct_kind_of<T>().describe_with(result, &defaults);
  return result;
}

}  // namespace troupe

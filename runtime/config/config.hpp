#pragma once
// JSON and YAML configuration with a schema. An options struct describes its fields once (see
// options_schema.hpp). From this description come the strict reader, the writer of the resolved
// configuration and the schema that is printed for people. Code that uses nlohmann::json values
// itself includes <nlohmann/json.hpp>.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/config/config_error.hpp"
#include "runtime/config/json_text.hpp"
#include "runtime/config/options_schema.hpp"
#include "runtime/config/yaml_text.hpp"

namespace troupe {

/// An option that is not at its default and has no effect.
struct idle_option {
  std::string name;   ///< The dotted name, such as "trainer.clip_low".
  std::string value;  ///< The value as JSON.
  std::string why;    ///< Such as "it has an effect only if mode is async".
};

namespace detail {
void check_options(const struct_kind& schema, const void* options, void* scratch,
                   std::string_view name);
std::vector<idle_option> idle_options(const struct_kind& schema, const void* asked,
                                      const void* completed, const void* defaults);
}  // namespace detail

/// Reads a whole options struct; keys that are absent keep the value they have in `defaults`.
/// Throws config_error for unknown keys, wrong types, values out of range and broken rules, with
/// path, expectation and value.
template <described_options T>
T parse_config(const nlohmann::json& document, T defaults = {}) {
  detail::struct_kind_of<T>().read(document, &defaults, "", {});
  return defaults;
}

/// Checks a struct that was made in C++ like parse_config checks a document, and returns it. `name`
/// stands before the path. Throws std::invalid_argument such as `ppo/lr: expected a number > 0, got
/// -1`.
template <described_options T>
const T& checked_options(const T& options, std::string_view name) {
  T scratch{};
  detail::check_options(detail::struct_kind_of<T>(), &options, &scratch, name);
  return options;
}

/// Returns the document that a program starts from: the content of `file`, or an empty object if
/// `file` is empty, with the command line's `a.b=3` applied in order. A file whose name ends in
/// .yaml or .yml is read as YAML, any other as JSON.
nlohmann::json load_config(const std::filesystem::path& file,
                           const std::vector<std::string>& overrides);

/// Returns the resolved configuration: every field with its value. Throws config_error for NaN and
/// infinities. (`Json` is always nlohmann::json. It is a template parameter so that the type may be
/// incomplete here.)
template <described_options T, class Json = nlohmann::json>
Json to_json(const T& options) {
  Json result;
  detail::struct_kind_of<T>().write(&options, result, "");
  return result;
}

/// Returns the JSON Schema (draft 2020-12) of an options struct: types, limits, defaults, units and
/// help texts.
template <described_options T, class Json = nlohmann::json>
Json schema_json() {
  Json result;
  const T defaults{};
  result["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  detail::struct_kind_of<T>().describe_with(result, &defaults);
  detail::add_sentences(result);
  return result;
}

/// Returns the options of `asked` that are not at their defaults and have no effect, as their
/// descriptions say (option_schema::has_effect_if), in alphabetical order. The conditions are those
/// of `completed`, which has values where `asked` leaves them open. Options within an optional
/// section or within a list are not looked at.
template <described_options T>
std::vector<idle_option> idle_options_of(const T& asked, const T& completed) {
  const T defaults{};
  return detail::idle_options(detail::struct_kind_of<T>(), &asked, &completed, &defaults);
}
template <described_options T>
std::vector<idle_option> idle_options_of(const T& asked) {
  return idle_options_of(asked, asked);
}

}  // namespace troupe

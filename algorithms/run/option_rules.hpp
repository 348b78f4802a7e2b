#pragma once
// Rules between the sections of a whole configuration, warnings about options without effect, and
// the schema of a whole configuration. The config.hpp of each algorithm uses it.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/config/config.hpp"

namespace troupe {

/// An option that is not at its default and has no effect.
struct idle_option {
  std::string name;   ///< The dotted name, such as "trainer.clip_low".
  std::string value;  ///< The value as JSON.
  std::string why;    ///< Why the option has no effect, such as "mode is sync".
};

/// A rule that says when options have no effect.
struct idle_rule {
  bool holds = false;                ///< True if the options have no effect.
  std::string why;                   ///< The reason, such as "mode is sync".
  std::vector<std::string> options;  ///< The dotted names of the options.
};

namespace detail {

/// Throws config_error that names `option`, its value in `configuration` and what was expected.
[[noreturn]] void refuse_option(const nlohmann::json& configuration, const std::string& option,
                                const std::string& expected);

/// The options named by rules that hold, whose values in `asked` differ from those in `usual`.
std::vector<idle_option> idle_options(const nlohmann::json& asked, const nlohmann::json& usual,
                                      const std::vector<idle_rule>& rules);

/// The schema with the values of `resolved` as its defaults, also inside sections.
nlohmann::json with_defaults(nlohmann::json schema, const nlohmann::json& resolved);

}  // namespace detail

/// Adds a rule between the sections of a whole configuration. A configuration that breaks it is
/// refused with the name and value of one option, such as "rollout.groups"; options_schema::rule
/// would print the value of a whole section. `expected` returns what the message says was expected.
template <described_options Config, class Json = nlohmann::json>
void option_rule(options_schema<Config>& s, const std::string& option,
                 std::type_identity_t<std::function<std::string(const Config&)>> expected,
                 std::type_identity_t<std::function<bool(const Config&)>> holds) {
  s.rule(option.substr(0, option.find('.')), "", [=](const Config& c) {
    if (!holds(c)) detail::refuse_option(to_json<Config, Json>(c), option, expected(c));
    return true;
  });
}

/// All options without effect: those that a rule names and whose value is not the default.
template <described_options Config, class Json = nlohmann::json>
std::vector<idle_option> idle_options_of(const Config& asked, const std::vector<idle_rule>& rules) {
  return detail::idle_options(to_json<Config, Json>(asked), to_json<Config, Json>(Config{}), rules);
}

/// Logs a warning about each option.
void tell_idle_options(const std::vector<idle_option>& options);

/// The JSON Schema of an algorithm's configuration, with the defaults of its runs. schema_json
/// alone would show the defaults of each section's struct, which several algorithms share and for
/// which an algorithm's configuration may have other values.
template <described_options Config, class Json = nlohmann::json>
Json configuration_schema(const Config& defaults = Config{}) {
  return detail::with_defaults(schema_json<Config, Json>(), to_json<Config, Json>(defaults));
}

}  // namespace troupe

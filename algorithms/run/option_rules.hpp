#pragma once
// Rules between the sections of a whole configuration, options that change nothing beside the
// others, and the defaults of a whole configuration.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/config/config.hpp"

namespace troupe {

/// An option that isn't as it is by default, and changes nothing.
struct idle_option {
  std::string name;   ///< "trainer.clip_low"
  std::string value;  ///< as in JSON
  std::string why;
};

/// Where it holds, these options change nothing.
struct idle_rule {
  bool holds = false;
  std::string why;
  std::vector<std::string> options;  ///< By their dotted names.
};

namespace detail {

/// Throws config_error for the option with that dotted name in a whole configuration.
[[noreturn]] void refuse_option(const nlohmann::json& configuration, const std::string& option,
                                const std::string& expected);

std::vector<idle_option> idle_options(const nlohmann::json& asked, const nlohmann::json& usual,
                                      const std::vector<idle_rule>& rules);

/// The schema with the values of `resolved` as its defaults, those of options inside of sections
/// too.
nlohmann::json with_defaults(nlohmann::json schema, const nlohmann::json& resolved);

}  // namespace detail

/// A rule between sections of a whole configuration. It is blamed on one option, "rollout.groups",
/// so its refusal has that option's value; that of options_schema::rule would have a whole section.
template <described_options Config, class Json = nlohmann::json>
void option_rule(options_schema<Config>& s, const std::string& option,
                 std::type_identity_t<std::function<std::string(const Config&)>> expected,
                 std::type_identity_t<std::function<bool(const Config&)>> holds) {
  s.rule(option.substr(0, option.find('.')), "", [=](const Config& c) {
    if (!holds(c)) detail::refuse_option(to_json<Config, Json>(c), option, expected(c));
    return true;
  });
}

/// All options of the configuration that the rules name and that somebody has set.
template <described_options Config, class Json = nlohmann::json>
std::vector<idle_option> idle_options_of(const Config& asked, const std::vector<idle_rule>& rules) {
  return detail::idle_options(to_json<Config, Json>(asked), to_json<Config, Json>(Config{}), rules);
}

/// Logs a warning of each.
void tell_idle_options(const std::vector<idle_option>& options);

/// schema_json of an algorithm's configuration, with the defaults that a run of it has. A section
/// is a struct that several algorithms share, and an algorithm's configuration can begin with other
/// values in it: there schema_json tells of the struct's.
template <described_options Config, class Json = nlohmann::json>
Json configuration_schema(const Config& defaults = Config{}) {
  return detail::with_defaults(schema_json<Config, Json>(), to_json<Config, Json>(defaults));
}

}  // namespace troupe

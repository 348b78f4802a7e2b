#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <type_traits>

#include "runtime/config/config.hpp"

namespace troupe {

namespace detail {

/// Throws config_error for the option with that dotted name in a whole configuration.
[[noreturn]] void refuse_option(const nlohmann::json& configuration, const std::string& option,
                                const std::string& expected);

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

}  // namespace troupe

#include "algorithms/run/option_rules.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/base/log.hpp"

namespace troupe {

namespace detail {

namespace {

nlohmann::json::json_pointer pointer_to(std::string dotted) {
  std::ranges::replace(dotted, '.', '/');
  return nlohmann::json::json_pointer('/' + dotted);
}

}  // namespace

void refuse_option(const nlohmann::json& configuration, const std::string& option,
                   const std::string& expected) {
  const auto at = pointer_to(option);
  throw config_error(at.to_string(),
                     "expected " + expected + ", got " + show(configuration.at(at)));
}

std::vector<idle_option> idle_options(const nlohmann::json& asked, const nlohmann::json& usual,
                                      const std::vector<idle_rule>& rules) {
  std::vector<idle_option> idle;
  for (const auto& rule : rules) {
    if (!rule.holds) continue;
    for (const auto& name : rule.options) {
      const auto at = pointer_to(name);
      if (asked.at(at) != usual.at(at)) idle.push_back({name, asked.at(at).dump(), rule.why});
    }
  }
  return idle;
}

nlohmann::json with_defaults(nlohmann::json schema, const nlohmann::json& resolved) {
  for (const auto& [name, option] : schema.at("properties").items()) {
    const auto& value = resolved.at(name);
    if (option.contains("properties")) option = with_defaults(std::move(option), value);
    option["default"] = value;
  }
  return schema;
}

}  // namespace detail

void tell_idle_options(const std::vector<idle_option>& options) {
  for (const auto& each : options) {
    log::warn("an option has no effect",
              {{"option", each.name}, {"value", each.value}, {"why", each.why}});
  }
}

}  // namespace troupe

#include "algorithms/run/configuration_schema.hpp"

#include <nlohmann/json.hpp>

namespace troupe::detail {

nlohmann::json with_defaults(nlohmann::json schema, const nlohmann::json& resolved) {
  for (const auto& [name, option] : schema.at("properties").items()) {
    const auto& value = resolved.at(name);
    if (option.contains("properties")) option = with_defaults(std::move(option), value);
    option["default"] = value;
  }
  return schema;
}

}  // namespace troupe::detail

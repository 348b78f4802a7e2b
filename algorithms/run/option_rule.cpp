#include "algorithms/run/option_rule.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace troupe::detail {

void refuse_option(const nlohmann::json& configuration, const std::string& option,
                   const std::string& expected) {
  auto pointer = '/' + option;
  std::ranges::replace(pointer, '.', '/');
  const auto& value = configuration.at(nlohmann::json::json_pointer(pointer));
  throw config_error(pointer, "expected " + expected + ", got " + show(value));
}

}  // namespace troupe::detail

#pragma once
// The query of an HTTP request's target.

#include <string_view>

namespace troupe::detail {

/// Returns the value of a name in the query of a target such as "/ws?session_id=7", or an empty
/// text. Nothing is decoded, so it is for values of letters, digits and "-".
inline std::string_view query_value(std::string_view target, std::string_view name) {
  auto at = target.find('?');
  while (at != target.npos) {
    const auto end = target.find('&', at + 1);
    const auto part = target.substr(at + 1, end == target.npos ? end : end - at - 1);
    if (part.size() > name.size() && part.starts_with(name) && part[name.size()] == '=')
      return part.substr(name.size() + 1);
    at = end;
  }
  return {};
}

}  // namespace troupe::detail

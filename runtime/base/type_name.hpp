#pragma once

#include <string_view>

namespace troupe::detail {

/// "observation" out of the compiler's spelling of a function template's argument.
template <class T>
constexpr std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
  text.remove_suffix(1);
  return text.substr(0, text.find(';'));
}

}  // namespace troupe::detail

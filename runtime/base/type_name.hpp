#pragma once
// Names of types at compile time, for messages.

#include <string_view>

namespace troupe::detail {

/// Returns the name of T, such as "observation", from the compiler's spelling of the template
/// argument.
template <class T>
constexpr std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
  text.remove_suffix(1);
  return text.substr(0, text.find(';'));
}

}  // namespace troupe::detail

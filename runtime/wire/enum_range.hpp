#pragma once
// Finds out which values of an enum have names, from the compiler's own spelling of them. Decoded
// enums are checked against this range.

#include <string_view>
#include <type_traits>
#include <utility>

namespace troupe {

/// The first and the last valid value of an enum. It must be specialised for an enum that has
/// enumerators outside of 0 .. 63, or whose values are sums of flags. Values outside of the range
/// can't be sent to another process.
///
///     template <> inline constexpr auto troupe::wire_enum_range<port> = std::pair{port(1),
///     port(65535)};
template <class E>
inline constexpr auto wire_enum_range = nullptr;

namespace detail {

/// An enum that can hold every value of its underlying type.
template <class E>
concept fixed_enum = std::is_enum_v<E> && requires { E{std::underlying_type_t<E>{}}; };

template <auto... Values>
consteval std::string_view spell_values() {
  return __PRETTY_FUNCTION__;  // "... [Values = <color::red, color::green, (color)2>]"
}

struct enum_range {
  long long first = 0, last = -1;  ///< If `last` is below `first`, no value has a name.
};

/// Returns the first and the last value in 0 .. sizeof...(Values) - 1 that has a name.
template <class E, int... Values>
consteval enum_range find_names(std::integer_sequence<int, Values...>) {
  std::string_view text = spell_values<static_cast<E>(Values)...>();
  text.remove_prefix(text.find("Values = ") + 10);
  enum_range found{-1, -1};
  int value = 0, depth = 0;
  char digits_after = 0;  // The last character that was no digit.
  for (const char c : text) {
    if (depth == 0 && (c == ',' || c == '>' || c == '}')) {
      if (digits_after != ')') {
        found.last = value;
        if (found.first < 0) found.first = value;
      }
      if (++value == sizeof...(Values)) break;
      digits_after = 0;
    } else {
      if (c < '0' || c > '9') digits_after = c;
      if (c == '<' || c == '(' || c == '{') ++depth;
      if (c == '>' || c == ')' || c == '}') --depth;
    }
  }
  return found.last < 0 ? enum_range{} : found;
}

/// Returns the range of values that can be sent: the specialised range, or that of the names, or
/// every value if none has a name.
template <fixed_enum E>
consteval enum_range range_of() {
  if constexpr (std::is_same_v<decltype(wire_enum_range<E>), const std::nullptr_t>) {
    return find_names<E>(std::make_integer_sequence<int, 64>());
  } else {
    return {static_cast<long long>(wire_enum_range<E>.first),
            static_cast<long long>(wire_enum_range<E>.second)};
  }
}

template <fixed_enum E>
constexpr bool in_range(E value) {
  constexpr auto range = range_of<E>();
  const auto number = static_cast<long long>(value);
  return range.last < range.first || (number >= range.first && number <= range.last);
}

}  // namespace detail
}  // namespace troupe

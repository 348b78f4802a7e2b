#pragma once
// Which values of an enum have a name, found in the compiler's own spelling of them.

#include <string_view>
#include <type_traits>
#include <utility>

namespace troupe {

/// From an enum's first enumerator to its last, for one that has any outside of 0 .. 63 or whose
/// values are sums of flags. To be specialised: nothing outside of the range crosses a process.
///
///     template <> inline constexpr auto troupe::wire_enum_range<port> = std::pair{port(1),
///     port(65535)};
template <class E>
inline constexpr auto wire_enum_range = nullptr;

namespace detail {

/// Enums that hold every value of their underlying type.
template <class E>
concept fixed_enum = std::is_enum_v<E> && requires { E{std::underlying_type_t<E>{}}; };

template <auto... Values>
consteval std::string_view spell_values() {
  return __PRETTY_FUNCTION__;  // "... [Values = <color::red, color::green, (color)2>]"
}

struct enum_range {
  long long first = 0, last = -1;  ///< Last below first: no value has a name.
};

/// The first and the last value in 0 .. sizeof...(Values) - 1 that has a name.
template <class E, int... Values>
consteval enum_range find_names(std::integer_sequence<int, Values...>) {
  std::string_view text = spell_values<static_cast<E>(Values)...>();
  text.remove_prefix(text.find("Values = ") + 10);
  enum_range found{-1, -1};
  int value = 0, depth = 0;
  char digits_after = 0;  // the last character that was no digit
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

/// What may cross: the range that is given, that of the names, or everything where there is none.
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

#pragma once
// Saves a value as the bytes of a checkpoint file: a header with its type, followed by the same
// encoding that is used between processes (runtime/wire/codec.hpp). So a struct describes its
// members once, for messages and for files.
//
//   std::string bytes = state_bytes(learner.state());
//   learner.set_state(state_of<learner_state>(bytes));

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "actors/checkpoint/state.hpp"
#include "runtime/wire/codec.hpp"

namespace troupe {

namespace detail {

template <class T, class... Around>
consteval std::uint64_t layout_of();

template <class T, class... Around, class... Part>
consteval std::uint64_t layout_of_parts(types<Part...>) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  const auto add = [&hash](std::uint64_t number) { hash = (hash ^ number) * 1099511628211u; };
  add(bytes_min<T>());
  add(std::is_floating_point_v<T> ? 1 : std::is_signed_v<T> ? 2 : 3);
  (add(layout_of<std::remove_cv_t<Part>, T, Around...>()), ...);
  return hash;
}

/// Returns a hash of the types that T consists of, so that the bytes of a T with other members are
/// refused.
template <class T, class... Around>
consteval std::uint64_t layout_of() {
  if constexpr ((std::is_same_v<T, Around> || ...)) {
    return 0;
  } else {
    return layout_of_parts<T, Around...>(typename parts_of<T>::type());
  }
}

/// The name and the layout of a type, for the header and for messages.
struct state_type {
  std::string_view name;
  std::uint64_t layout;
};

/// Returns the header that precedes the value. `value_size` is the number of bytes to reserve for
/// it.
std::string begin_state(state_type type, std::size_t value_size);
/// Returns the bytes of the value. Throws state_error unless they are of that type.
std::span<const std::byte> value_in(std::string_view bytes, state_type expected);
[[noreturn]] void refuse_state(std::string_view type, std::string_view why);

template <class T>
inline constexpr state_type state_type_of{type_name<T>(), layout_of<T>()};

}  // namespace detail

/// Returns the bytes of a value. Floats keep their bits.
template <encodable T>
std::string state_bytes(const T& value) {
  const auto size = wire_size(value);
  auto bytes = detail::begin_state(detail::state_type_of<T>, size);
  const auto begin = bytes.size();
  bytes.resize(begin + size);
  wire_writer to(std::as_writable_bytes(std::span(bytes)).subspan(begin));
  to.write(value);
  return bytes;
}

/// Reads a value from bytes of `state_bytes`. Throws state_error naming T for any other bytes. The
/// values of its members are not checked.
template <encodable T>
T state_of(std::string_view bytes) {
  constexpr auto type = detail::state_type_of<T>;
  const auto value = detail::value_in(bytes, type);
  try {
    return detail::decode<T>(value);
  } catch (const wire_error& e) {
    detail::refuse_state(type.name, e.what());
  }
}

/// Restores the state of `to` from the bytes of state_bytes(x.state()) of an object x of the same
/// type. Throws state_error also if set_state refuses the state.
template <class T>
void restore_state(T& to, std::string_view bytes) {
  using state = std::remove_cvref_t<decltype(to.state())>;
  auto saved = state_of<state>(bytes);
  try {
    to.set_state(std::move(saved));
  } catch (const std::invalid_argument& e) {
    detail::refuse_state(detail::state_type_of<state>.name, e.what());
  }
}

}  // namespace troupe

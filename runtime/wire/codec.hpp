#pragma once
// Encodes values as bytes and decodes them, for messages between processes of the same build.
// Numbers are written as they are in memory, little-endian, so that floats keep their bits.
//
// Numbers, enums, strings, the standard containers and pointers, and plain structs of these are
// encodable without any code. Another class declares its members in one of two ways:
//
//     auto wire_members() { return std::tie(name_, values_); }      // a public member of it
//
//     template <>
//     struct troupe::wire_codec<shape> {                            // or beside it
//       static std::size_t size(const shape& s) { return wire_size(s.sizes()); }
//       static void write(const shape& s, wire_writer& to) { to.write(s.sizes()); }
//       static shape read(wire_reader& from) { return shape(from.read<std::vector<int>>()); }
//     };

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "runtime/base/type_name.hpp"
#include "runtime/wire/block.hpp"
#include "runtime/wire/enum_range.hpp"
#include "runtime/wire/fields.hpp"
#include "runtime/wire/reader.hpp"
#include "runtime/wire/wire_error.hpp"
#include "runtime/wire/writer.hpp"

static_assert(std::endian::native == std::endian::little, "bytes cross processes as they are");

namespace troupe {

/// The codec of T. It may have two more members: `parts`, a detail::types<...> of the types that
/// must be encodable for T to be encodable, and `bytes_min`, the size of the smallest T in bytes (0
/// by default).
template <class T>
struct wire_codec;

namespace detail {

template <class... T>
struct types {};

template <class T>
concept has_codec = requires { sizeof(wire_codec<T>); };

template <class T>
struct parts_of {
  using type = types<>;
};
template <class T>
  requires requires { typename wire_codec<T>::parts; }
struct parts_of<T> {
  using type = typename wire_codec<T>::parts;
};

/// A type that has no codec, and the type that has it as a part. Both are empty if there is none.
struct offender {
  std::string_view type, in;
};

template <class T, class... Around>
consteval offender find_offender();

template <class T, class... Around, class... Part>
consteval offender find_offender_among(types<Part...>) {
  offender found;
  (void)((found = find_offender<std::remove_cv_t<Part>, T, Around...>(), !found.type.empty()) ||
         ...);
  if (!found.type.empty() && found.in.empty()) found.in = type_name<T>();
  return found;
}

/// Finds a part of T that has no codec. `Around` are the types that T is a part of; the search
/// stops at a type that contains itself.
template <class T, class... Around>
consteval offender find_offender() {
  if constexpr ((std::is_same_v<T, Around> || ...)) {
    return {};
  } else if constexpr (has_codec<T>) {
    return find_offender_among<T, Around...>(typename parts_of<T>::type());
  } else {
    return {type_name<T>(), {}};
  }
}

}  // namespace detail

/// A type whose values can be sent to another process of the same build without loss.
template <class T>
concept encodable = detail::find_offender<std::remove_cv_t<T>>().type.empty();

/// Returns the part that makes T not encodable, for messages: "std::function<void ()>, in
/// dataset::options".
template <class T>
std::string not_encodable() {
  constexpr auto found = detail::find_offender<std::remove_cv_t<T>>();
  std::string text(found.type);
  if (!found.in.empty()) text.append(", in ").append(found.in);
  return text;
}

/// Returns the number of bytes that `value` takes. Throws wire_error for a value that can't be
/// encoded: an enumerator out of range, or a variant without a value.
template <class T>
std::size_t wire_size(const T& value) {
  return wire_codec<T>::size(value);
}
template <class T>
void wire_writer::write(const T& value) {
  wire_codec<T>::write(value, *this);
}
template <class T>
T wire_reader::read() {
  return wire_codec<std::remove_cv_t<T>>::read(*this);
}

namespace detail {

/// Returns the size of the smallest T in bytes.
template <class T>
consteval std::size_t bytes_min() {
  if constexpr (requires { wire_codec<T>::bytes_min; }) {
    return wire_codec<T>::bytes_min;
  } else {
    return 0;
  }
}

/// A type that is encoded as its memory: every pattern of its bytes is a valid T, and there is no
/// padding.
template <class T>
concept flat = requires { requires wire_codec<T>::flat; };

/// The codec of a flat type.
template <class T>
struct flat_codec {
  static constexpr bool flat = true;
  static constexpr std::size_t bytes_min = sizeof(T);
  static std::size_t size(const T&) { return sizeof(T); }
  static void write(const T& value, wire_writer& to) { to.bytes(&value, sizeof(T)); }
  static T read(wire_reader& from) { return load(from.bytes(sizeof(T), type_name<T>()).data()); }
  static T load(const std::byte* from) {
    struct {
      alignas(T) std::byte bytes[sizeof(T)];
    } copy;
    std::memcpy(copy.bytes, from, sizeof(T));
    return std::bit_cast<T>(copy);
  }
};

/// Encodes parts one after the other: the members of a class, a tuple or a struct.
template <class... Part>
struct row {
  static constexpr std::size_t bytes_min = (std::size_t{0} + ... + detail::bytes_min<Part>());
  /// Returns true if T, whose fields these are, consists of flat fields without padding.
  template <class T>
  static consteval bool fills() {
    return (flat<Part> && ...) && (std::size_t{0} + ... + sizeof(Part)) == sizeof(T);
  }
  static std::size_t size(const Part&... part) {
    return (std::size_t{0} + ... + wire_codec<Part>::size(part));
  }
  static void write(wire_writer& to, const Part&... part) {
    (wire_codec<Part>::write(part, to), ...);
  }
};

/// A class that names its members by `wire_members`.
template <class T>
concept names_members = requires(T& value) { value.wire_members(); };

/// A struct whose fields are encoded in order.
template <class T>
concept plain_struct = std::is_class_v<T> && requires { sizeof(T); } && !names_members<T> &&
                       field_count<T>() != fields_unknown;

/// A type without state, such as a lambda without captures: it takes no bytes.
template <class T>
concept stateless = std::is_class_v<T> && requires { sizeof(T); } && std::is_empty_v<T> &&
                    std::is_trivially_copyable_v<T> && std::default_initializable<T> &&
                    !names_members<T> && !plain_struct<T>;

}  // namespace detail

// long double is left out: its memory has padding.
template <class T>
  requires(std::is_arithmetic_v<T> && !std::same_as<T, bool> && !std::same_as<T, long double>)
struct wire_codec<T> : detail::flat_codec<T> {};

template <>
struct wire_codec<bool> {
  static constexpr std::size_t bytes_min = 1;
  static std::size_t size(bool) { return 1; }
  static void write(bool value, wire_writer& to) { *to.skip(1) = std::byte{value}; }
  static bool read(wire_reader& from) {
    const auto byte = std::to_integer<unsigned>(from.bytes(1, "bool")[0]);
    if (byte > 1) from.fail("bool", "expected 0 or 1, got " + std::to_string(byte));
    return byte == 1;
  }
};

template <>
struct wire_codec<std::byte> : detail::flat_codec<std::byte> {};

template <detail::fixed_enum E>
struct wire_codec<E> {
  using number = std::underlying_type_t<E>;
  static constexpr std::size_t bytes_min = sizeof(E);
  static std::size_t size(E) { return sizeof(E); }
  static void write(E value, wire_writer& to) {
    if (!detail::in_range(value)) {
      throw wire_error(describe(value) + ": specialise wire_enum_range for it");
    }
    to.write(static_cast<number>(value));
  }
  static E read(wire_reader& from) {
    const auto value = static_cast<E>(from.read<number>());
    if (!detail::in_range(value)) from.fail(detail::type_name<E>(), describe(value));
    return value;
  }

 private:
  static std::string describe(E value) {
    return std::string(detail::type_name<E>()) + " has no enumerator of value " +
           std::to_string(static_cast<number>(value));
  }
};

template <class T>
  requires detail::names_members<T>
struct wire_codec<T> {
 private:
  template <class... Member>
  static detail::types<std::remove_cv_t<Member>...> decay(const std::tuple<Member&...>&);
  template <class... Part>
  static detail::row<Part...> row_of(detail::types<Part...>);
  static auto members(const T& value) { return const_cast<T&>(value).wire_members(); }

 public:
  using parts = decltype(decay(std::declval<T&>().wire_members()));
  using row = decltype(row_of(parts()));
  static constexpr std::size_t bytes_min = row::bytes_min;

  static std::size_t size(const T& value) {
    return std::apply([](const auto&... part) { return row::size(part...); }, members(value));
  }
  static void write(const T& value, wire_writer& to) {
    std::apply([&](const auto&... part) { row::write(to, part...); }, members(value));
  }
  static T read(wire_reader& from) {
    static_assert(std::default_initializable<T>, "specialise wire_codec for what has no default");
    T value{};
    std::apply(
        [&](auto&... part) {
          ((part = from.read<std::remove_reference_t<decltype(part)>>()), ...);
        },
        value.wire_members());
    return value;
  }
};

template <class T>
  requires detail::plain_struct<T>
struct wire_codec<T> {
 private:
  struct to_types {
    template <class... Part>
    detail::types<Part...> operator()(Part&...) const {
      return {};
    }
  };
  template <class... Part>
  static detail::row<Part...> row_of(detail::types<Part...>);
  template <class... Part>
  static T make(wire_reader& from, detail::types<Part...>) {
    return T{from.read<Part>()...};
  }

 public:
  using parts = decltype(detail::with_fields(std::declval<T&>(), to_types()));
  using row = decltype(row_of(parts()));
  static constexpr std::size_t bytes_min = row::bytes_min;
  static constexpr bool flat = std::is_trivially_copyable_v<T> && row::template fills<T>();

  static std::size_t size(const T& value) {
    return detail::with_fields(value, [](const auto&... part) { return row::size(part...); });
  }
  static void write(const T& value, wire_writer& to) {
    detail::with_fields(value, [&](const auto&... part) { row::write(to, part...); });
  }
  static T read(wire_reader& from) { return make(from, parts()); }
  static T load(const std::byte* from) { return detail::flat_codec<T>::load(from); }
};

template <detail::stateless T>
struct wire_codec<T> {
  static std::size_t size(const T&) { return 0; }
  static void write(const T&, wire_writer&) {}
  static T read(wire_reader&) { return T(); }
};

namespace detail {

/// Returns the number of bytes that `encode` writes.
template <encodable T>
std::size_t encoded_size(const T& value) {
  return wire_size(value);
}
template <encodable T>
/// Writes a value to `to`, behind what was written before.
void encode(const T& value, wire_writer& to) {
  to.write(value);
}
/// Reads the next T of several values.
template <encodable T>
T decode(wire_reader& from) {
  return from.read<T>();
}
/// Reads the T that fills `bytes` exactly. Throws wire_error if they are no T, or if bytes are
/// left.
template <encodable T>
T decode(std::span<const std::byte> bytes, wire_context context = {}) {
  wire_reader from(bytes, context);
  T value = from.read<T>();
  from.finish(type_name<T>());
  return value;
}
/// Returns the bytes of a value, in a block on the heap.
template <encodable T>
block encode(const T& value) {
  block bytes(wire_size(value));
  wire_writer to(bytes.bytes());
  to.write(value);
  return bytes;
}

}  // namespace detail
}  // namespace troupe

#include "runtime/wire/error_codec.hpp"      // IWYU pragma: export
#include "runtime/wire/json_codec.hpp"       // IWYU pragma: export
#include "runtime/wire/metrics_codec.hpp"    // IWYU pragma: export
#include "runtime/wire/standard_codecs.hpp"  // IWYU pragma: export

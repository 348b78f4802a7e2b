#pragma once
// Encodes exceptions. Exceptions of Troupe and of the standard library keep their type and text;
// every other exception arrives as a remote_error. Include codec.hpp, which includes this file.

#include <exception>
#include <stdexcept>
#include <string>

#include "runtime/base/outcome.hpp"
#include "runtime/wire/codec.hpp"

namespace troupe {

/// Stands for an exception whose type only the process that threw it knows.
class remote_error : public std::runtime_error {
 public:
  remote_error(std::string type, std::string message);
  /// The name of the exception's type, such as "shop::sold_out".
  const std::string& type() const noexcept { return type_; }
  /// The exception's own what().
  const std::string& message() const noexcept { return message_; }

 private:
  std::string type_, message_;
};

/// Encodes exceptions. Bytes in a text that are not UTF-8 are replaced.
template <>
struct wire_codec<std::exception_ptr> {
  static constexpr std::size_t bytes_min = 1;
  static std::size_t size(const std::exception_ptr& error);
  static void write(const std::exception_ptr& error, wire_writer& to);
  static std::exception_ptr read(wire_reader& from);
};

template <class T>
struct wire_codec<outcome<T>> {
  using parts = detail::types<T>;
  static constexpr std::size_t bytes_min = 1;
  static std::size_t size(const outcome<T>& result) {
    return 1 + (result.ok() ? wire_size(result.value()) : wire_size(result.error()));
  }
  static void write(const outcome<T>& result, wire_writer& to) {
    to.write(result.ok());
    if (result.ok()) {
      to.write(result.value());
    } else {
      to.write(result.error());
    }
  }
  static outcome<T> read(wire_reader& from) {
    if (from.read<bool>()) return outcome<T>(from.read<T>());
    auto error = from.read<std::exception_ptr>();
    if (!error) from.fail(detail::type_name<outcome<T>>(), "neither a value nor an error");
    return outcome<T>(std::move(error));
  }
};

template <>
struct wire_codec<outcome<void>> {
  static constexpr std::size_t bytes_min = 1;
  static std::size_t size(const outcome<void>& result) { return wire_size(result.error()); }
  static void write(const outcome<void>& result, wire_writer& to) { to.write(result.error()); }
  static outcome<void> read(wire_reader& from) { return from.read<std::exception_ptr>(); }
};

}  // namespace troupe

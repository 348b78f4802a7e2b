#pragma once
// How exceptions cross: Troupe's own and the standard library's keep their type and their text;
// every other arrives as a remote_error. Included by codec.hpp, which is what to include.

#include <exception>
#include <stdexcept>
#include <string>

#include "runtime/base/outcome.hpp"
#include "runtime/wire/codec.hpp"

namespace troupe {

/// An exception of a type that only the process that threw it knows.
class remote_error : public std::runtime_error {
 public:
  remote_error(std::string type, std::string message);
  const std::string& type() const noexcept { return type_; }        ///< "shop::sold_out"
  const std::string& message() const noexcept { return message_; }  ///< Its own what().

 private:
  std::string type_, message_;
};

/// Texts that are no UTF-8 are made so.
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

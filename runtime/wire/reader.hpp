#pragma once
// Decoding of values from bytes that another process sent.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace troupe {

class metrics_registry;

/// The objects of the receiving process that decoded values may refer to.
struct wire_context {
  /// Null means that values with a metrics registry can't be decoded.
  metrics_registry* metrics = nullptr;
};

/// Reads values from bytes that may be malformed. It checks every count against the number of bytes
/// that are left before using it. Errors are wire_errors that name the type and the offset.
class wire_reader {
 public:
  explicit wire_reader(std::span<const std::byte> from, wire_context context = {})
      : begin_(from.data()), at_(begin_), end_(begin_ + from.size()), context_(context) {}
  wire_reader(const wire_reader&) = delete;

  /// Reads a value of any encodable type; see codec.hpp.
  template <class T>
  T read();

  /// Returns the next `size` bytes. `type` names the value that they are read for, in errors.
  std::span<const std::byte> bytes(std::size_t size, std::string_view type) {
    if (size > left()) throw_short(size, type);
    const auto* first = at_;
    at_ += size;
    return {first, size};
  }
  /// Reads a number of elements, each of at least `bytes_min` bytes. Throws wire_error if so many
  /// can't follow.
  std::size_t count(std::size_t bytes_min, std::string_view type);
  /// The maximal number of elements without any bytes, in one list and in all lists of a message
  /// together.
  static constexpr std::size_t empty_elements_max = std::size_t{1} << 20;
  /// Must be called after reading an element of a list, with the offset at which it began. Throws
  /// wire_error if there are too many elements without any bytes: nested lists of these could grow
  /// to any size from a few bytes.
  void took_element(std::size_t began, std::string_view type) {
    if (offset() == began && ++empty_elements_ > empty_elements_max) throw_empty(type);
  }

  /// Counts the nesting of values within a scope. Throws wire_error for more than depth_max levels,
  /// as values of a type that contains itself may have.
  class level {
   public:
    level(wire_reader& reader, std::string_view type) : reader_(reader) {
      if (reader_.depth_ == depth_max) reader_.throw_deep(type);
      ++reader_.depth_;
    }
    level(const level&) = delete;
    ~level() { --reader_.depth_; }

   private:
    wire_reader& reader_;
  };
  static constexpr int depth_max = 128;

  /// Returns the metrics registry of this process; throws wire_error if the context has none.
  metrics_registry& metrics(std::string_view type) const;

  std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
  std::size_t offset() const noexcept { return static_cast<std::size_t>(at_ - begin_); }

  /// Throws wire_error: "TYPE at byte 12: WHY".
  [[noreturn]] void fail(std::string_view type, const std::string& why) const;
  /// Must be called after the last value, which was of `type`. Throws wire_error if bytes are left.
  void finish(std::string_view type) const;

 private:
  [[noreturn]] void throw_short(std::size_t size, std::string_view type) const;
  [[noreturn]] void throw_deep(std::string_view type) const;
  [[noreturn]] void throw_empty(std::string_view type) const;

  const std::byte* begin_;
  const std::byte* at_;
  const std::byte* end_;
  wire_context context_;
  int depth_ = 0;
  std::size_t empty_elements_ = 0;
};

}  // namespace troupe

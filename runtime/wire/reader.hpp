#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace troupe {

class metrics_registry;

/// What values may need of the process that they arrive in.
struct wire_context {
  metrics_registry* metrics = nullptr;  ///< None: what counts can't arrive.
};

/// Takes values out of bytes that may be anything: it believes no count before it has compared it
/// with the bytes that are left. What is wrong is a wire_error that names the type and the offset.
class wire_reader {
 public:
  explicit wire_reader(std::span<const std::byte> from, wire_context context = {})
      : begin_(from.data()), at_(begin_), end_(begin_ + from.size()), context_(context) {}
  wire_reader(const wire_reader&) = delete;

  /// Of any encodable type: see codec.hpp.
  template <class T>
  T read();

  /// The next `size` bytes; `type` is what they are read for.
  std::span<const std::byte> bytes(std::size_t size, std::string_view type) {
    if (size > left()) throw_short(size, type);
    const auto* first = at_;
    at_ += size;
    return {first, size};
  }
  /// A number of elements, each of at least `bytes_min` bytes, that can still come.
  std::size_t count(std::size_t bytes_min, std::string_view type);
  /// Elements without a byte that a list may have, and all lists of a message together.
  static constexpr std::size_t empty_elements_max = std::size_t{1} << 20;
  /// An element of a list has been read, from this offset on. Throws wire_error where it is one too
  /// many without a byte: lists of lists of them would grow to any size from a few bytes.
  void took_element(std::size_t began, std::string_view type) {
    if (offset() == began && ++empty_elements_ > empty_elements_max) throw_empty(type);
  }

  /// Values within values within values: of a type that contains itself.
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

  /// This process's metrics; throws wire_error where the context has none.
  metrics_registry& metrics(std::string_view type) const;

  std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
  std::size_t offset() const noexcept { return static_cast<std::size_t>(at_ - begin_); }

  /// Throws wire_error: "TYPE at byte 12: WHY".
  [[noreturn]] void fail(std::string_view type, const std::string& why) const;
  /// The value was of `type`. Throws wire_error if anything comes after it.
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

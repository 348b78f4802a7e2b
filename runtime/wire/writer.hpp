#pragma once
// Encoding of values into bytes of a known size.

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

namespace troupe {

/// Writes values into bytes whose number came from `wire_size`: little-endian, without alignment or
/// padding. Throws std::logic_error if there is not enough room.
class wire_writer {
 public:
  explicit wire_writer(std::span<std::byte> to) : at_(to.data()), end_(to.data() + to.size()) {}

  /// Writes a value of any encodable type; see codec.hpp.
  template <class T>
  void write(const T& value);

  /// Copies `size` bytes of memory.
  void bytes(const void* from, std::size_t size) {
    if (size == 0) return;
    std::memcpy(skip(size), from, size);
  }
  /// Returns the next `size` bytes, which the caller must write.
  std::byte* skip(std::size_t size) {
    if (size > left()) throw_full(size);
    return std::exchange(at_, at_ + size);
  }
  std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }

 private:
  [[noreturn]] void throw_full(std::size_t size) const;

  std::byte* at_;
  std::byte* end_;
};

}  // namespace troupe

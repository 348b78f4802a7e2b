#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

namespace troupe {

/// Puts values into bytes whose number `wire_size` has told: little-endian, nothing aligned,
/// nothing between them. Throws std::logic_error where they don't suffice.
class wire_writer {
 public:
  explicit wire_writer(std::span<std::byte> to) : at_(to.data()), end_(to.data() + to.size()) {}

  /// Of any encodable type: see codec.hpp.
  template <class T>
  void write(const T& value);

  /// Memory as it is.
  void bytes(const void* from, std::size_t size) {
    if (size == 0) return;
    std::memcpy(skip(size), from, size);
  }
  /// The next bytes, for the caller to write.
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

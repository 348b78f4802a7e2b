#pragma once
// The state of a role as bytes, for checkpoints. Restored values are exactly the saved ones: floats
// keep their bits.
//
//   state_writer to;                       const state_reader from(bytes);
//   to.put("steps", steps_);               from.get("steps", steps_);
//   to.put("moments", moments_);           from.get("moments", moments_);
//   std::string bytes = to.bytes();

#include <concepts>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace troupe {

/// Thrown for bytes that are no saved state, and for a value that is missing or of another kind.
/// The message names the value.
class state_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {
struct written_state;
struct read_state;

template <class T>
concept state_number = std::is_arithmetic_v<T>;
}  // namespace detail

/// Collects named values. Its bytes are CBOR (RFC 8949), which other programs can read: a map from
/// names to numbers and byte strings. A vector of numbers is saved as its little-endian bytes.
class state_writer {
 public:
  state_writer();
  state_writer(state_writer&&) noexcept;
  ~state_writer();

  template <detail::state_number T>
  void put(std::string_view name, T value) {
    if constexpr (std::floating_point<T>) {
      put_bits(name, &value, sizeof value);
    } else if constexpr (std::signed_integral<T>) {
      put_signed(name, value);
    } else {
      put_unsigned(name, value);
    }
  }
  template <detail::state_number T>
  void put(std::string_view name, const std::vector<T>& values) {
    put_bits(name, values.data(), values.size() * sizeof(T));
  }
  /// Adds any bytes, such as a text or another state.
  void put(std::string_view name, std::string_view bytes) {
    put_bits(name, bytes.data(), bytes.size());
  }
  void put(std::string_view name, const std::string& bytes) { put(name, std::string_view(bytes)); }
  void put(std::string_view name, std::string&& bytes);
  void put(std::string_view name, const char* text) = delete;  // A pointer would convert to bool.
  void put(std::string_view name, const std::vector<std::string>& each);

  std::string bytes() const&;
  /// Frees each value as soon as it is among the bytes, so that large states are not held twice.
  std::string bytes() &&;

 private:
  void put_signed(std::string_view name, std::int64_t value);
  void put_unsigned(std::string_view name, std::uint64_t value);
  void put_bits(std::string_view name, const void* data, std::size_t size);

  std::unique_ptr<detail::written_state> values_;
};

/// Reads the values of a state_writer. Its member functions throw state_error naming the value.
class state_reader {
 public:
  explicit state_reader(std::string bytes);
  /// Reads bytes that stay where they are, without a copy of them.
  static state_reader of_view(std::string_view bytes);
  state_reader(state_reader&&) noexcept;
  ~state_reader();

  bool has(std::string_view name) const;

  template <detail::state_number T>
  void get(std::string_view name, T& to) const {
    if constexpr (std::floating_point<T>) {
      const auto bits = bytes_of(name, sizeof(T));
      if (bits.size() != sizeof(T)) refuse(name, "one number");
      bits.copy(reinterpret_cast<char*>(&to), sizeof(T));
    } else if constexpr (std::signed_integral<T>) {
      to = static_cast<T>(signed_of(name));
      if (to != signed_of(name)) refuse(name, "a smaller number");
    } else {
      to = static_cast<T>(unsigned_of(name));
      if (to != unsigned_of(name)) refuse(name, "a smaller number");
    }
  }
  template <detail::state_number T>
  void get(std::string_view name, std::vector<T>& to) const {
    const auto bits = bytes_of(name, sizeof(T));
    to.resize(bits.size() / sizeof(T));
    bits.copy(reinterpret_cast<char*>(to.data()), bits.size());
  }
  void get(std::string_view name, std::string& to) const { to = bytes_of(name, 1); }
  /// The bytes without a copy of them. They last as long as the bytes that are read.
  void get(std::string_view name, std::string_view& to) const { to = bytes_of(name, 1); }
  void get(std::string_view name, std::vector<std::string>& to) const;

  template <class T>
  T get(std::string_view name) const {
    T value{};
    get(name, value);
    return value;
  }

 private:
  [[noreturn]] static void refuse(std::string_view name, std::string_view expected);
  std::int64_t signed_of(std::string_view name) const;
  std::uint64_t unsigned_of(std::string_view name) const;
  /// Returns a view of the value's bytes, whose number is a multiple of `width`.
  std::string_view bytes_of(std::string_view name, std::size_t width) const;

  state_reader();

  std::unique_ptr<detail::read_state> values_;
};

}  // namespace troupe

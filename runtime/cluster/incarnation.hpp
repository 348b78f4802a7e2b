#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::detail {

/// 128 random bits that distinguish a process from every other, including its predecessor of the
/// same name.
struct incarnation {
  std::array<std::byte, 16> bits{};

  auto operator<=>(const incarnation&) const = default;

  /// Throws std::system_error if the kernel gives no random bits.
  static incarnation random();
  /// Reads 32 hexadecimal digits; empty for any other text.
  static std::optional<incarnation> parse(std::string_view text);
};

/// Writes 32 hexadecimal digits.
std::string to_string(const incarnation& of);

}  // namespace troupe::detail

#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::detail {

/// 128 random bits that tell a process from every other, its predecessor of the same name too.
struct incarnation {
  std::array<std::byte, 16> bits{};

  auto operator<=>(const incarnation&) const = default;

  /// Throws std::system_error where the kernel gives no random bits.
  static incarnation random();
  /// From 32 hexadecimal digits; empty for anything else.
  static std::optional<incarnation> parse(std::string_view text);
};

/// 32 hexadecimal digits.
std::string to_string(const incarnation& of);

}  // namespace troupe::detail

#pragma once

#include <cstdint>
#include <string_view>

namespace troupe::detail {

/// Returns the FNV-1a hash of a text, which is the same in every process.
constexpr std::uint64_t text_hash(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

}  // namespace troupe::detail

#pragma once
// The check of choices, which both engines make before they read by them.

#include <cstdint>
#include <span>
#include <stdexcept>

#include <fmt/format.h>

namespace troupe::detail {

/// Throws std::invalid_argument unless all choices are from 0 to count - 1.
inline void require_choices(std::span<const std::int64_t> chosen, int count) {
  for (const auto each : chosen) {
    if (each >= 0 && each < count) continue;
    throw std::invalid_argument(
        fmt::format("graph: a choice of {}, expected 0 to {}", each, count - 1));
  }
}

}  // namespace troupe::detail

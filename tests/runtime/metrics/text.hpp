#pragma once
// Reading Prometheus's text format and HTTP answers in tests.

#include <string>

#include "tests/runtime/metrics/series.hpp"
#include "tests/test.hpp"

namespace troupe {

/// Matches a text that holds `part`.
inline auto holds(const std::string& part) { return Catch::Contains(part); }

inline std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

}  // namespace troupe

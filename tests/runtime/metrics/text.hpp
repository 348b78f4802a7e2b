#pragma once
// Reading Prometheus's text format and HTTP answers in tests.

#include <cstdlib>
#include <limits>
#include <string>

#include "tests/test.hpp"

namespace troupe {

/// Matches a text that holds `part`.
inline auto holds(const std::string& part) { return Catch::Contains(part); }

/// The value of a series written as `name` or `name{label="value"}`; NaN where it is not there.
inline double series(const std::string& text, const std::string& name) {
  const auto at = ("\n" + text).find("\n" + name + " ");
  if (at == std::string::npos) return std::numeric_limits<double>::quiet_NaN();
  return std::strtod(text.c_str() + at + name.size() + 1, nullptr);
}

inline std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

}  // namespace troupe

#pragma once
// Reading the values of metrics in tests, and in programs of tests that have no Catch2.

#include <cstdlib>
#include <limits>
#include <string>

#include "runtime/metrics/registry.hpp"
#include "runtime/system/system.hpp"

namespace troupe {

/// The value of a series written as `name` or `name{label="value"}`; NaN where it is not there.
inline double series(const std::string& text, const std::string& name) {
  const auto at = ("\n" + text).find("\n" + name + " ");
  if (at == std::string::npos) return std::numeric_limits<double>::quiet_NaN();
  return std::strtod(text.c_str() + at + name.size() + 1, nullptr);
}

/// The value of a service's metric in the text of all metrics; NaN where it is not there. `labels`
/// are those that come before the service's, as in `direction="up",`.
inline double metric(const std::string& text, const std::string& name, const std::string& service,
                     const std::string& labels = "") {
  return series(text, name + "{" + labels + "service=\"" + service + "\"}");
}

/// What it is now. It costs the text of all metrics.
inline double metric(system& sys, const std::string& name, const std::string& service,
                     const std::string& labels = "") {
  return metric(sys.metrics().text(), name, service, labels);
}

}  // namespace troupe

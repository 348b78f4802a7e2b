#pragma once

#include <cmath>
#include <string>

#include "runtime/metrics/registry.hpp"
#include "runtime/system/system.hpp"

namespace troupe::simulation {

/// A service's metric in the text of all metrics; NaN if there is none.
inline double gauge(const std::string& text, const std::string& name, const std::string& service) {
  const auto line = '\n' + name + "{service=\"" + service + "\"} ";
  const auto at = text.find(line);
  return at == text.npos ? std::nan("") : std::stod(text.substr(at + line.size(), 24));
}

/// What it is now. It costs the text of all metrics.
inline double gauge(system& sys, const std::string& name, const std::string& service) {
  return gauge(sys.metrics().text(), name, service);
}

}  // namespace troupe::simulation

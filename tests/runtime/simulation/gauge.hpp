#pragma once

#include <cmath>
#include <string>

#include "runtime/metrics/registry.hpp"
#include "runtime/system/system.hpp"

namespace troupe::simulation {

/// What a service's metric is now; NaN if there is none.
inline double gauge(system& sys, const std::string& name, const std::string& service) {
  const auto text = sys.metrics().text();
  const auto line = '\n' + name + "{service=\"" + service + "\"} ";
  const auto at = text.find(line);
  return at == text.npos ? std::nan("") : std::stod(text.substr(at + line.size(), 24));
}

}  // namespace troupe::simulation

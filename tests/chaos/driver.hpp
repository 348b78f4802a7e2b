#pragma once

#include <string>

#include "tests/chaos/killer.hpp"
#include "tests/chaos/report.hpp"

namespace troupe::chaos {

struct driver_options {
  killer_options killer;
  std::size_t replicas = 2;  ///< Of each of the three services.
  int callers = 4;           ///< Of each, and as many episodes at once.
  limits promised;
};

/// Loads the cast, kills, prints what came of it, and writes a line of JSON to `out`. Then it
/// kills all replicas at once and waits, while they are made again, to be killed itself.
[[noreturn]] void drive(const driver_options& options, int out);

}  // namespace troupe::chaos

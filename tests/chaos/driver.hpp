#pragma once

#include <string>

#include "tests/chaos/kill_record.hpp"
#include "tests/chaos/report.hpp"

namespace troupe::chaos {

struct driver_options {
  killer_options killer;
  std::size_t nodes = 0;     ///< 0: replicas are in processes of their own, and those are killed.
  std::size_t replicas = 2;  ///< Of each service; with nodes: for each of them.
  int callers = 4;           ///< Of each, and as many episodes at once.
  limits promised;
};

/// Where the driver of this process writes, and the file of the secret by which nodes join.
struct driver_ends {
  int out;
  std::string secret;
};

/// Loads the roles, kills, prints what came of it, and writes a line of JSON to `out`. Nodes are
/// told to end before; processes of replicas are all killed at once. Then it waits, while those are
/// made again, to be killed itself.
[[noreturn]] void drive(const driver_options& options, const driver_ends& to);

}  // namespace troupe::chaos

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>

#include "runtime/cluster/link_client.hpp"
#include "runtime/metrics/metrics_place.hpp"
#include "runtime/system/system.hpp"

namespace troupe::detail {

/// The values of the command line of a troupe::run program.
struct program_arguments {
  system_options system;
  metrics_place metrics{.port = 0};
  std::string log_level = "info";
  std::string trace;      ///< The file to write the trace to; empty means no trace.
  std::size_t nodes = 0;  ///< The number of nodes to wait for before the program starts.
  std::optional<link_client_options> join;
};

/// Returns the arguments, or the exit code if the command line asks for help (0) or is wrong (2).
std::variant<program_arguments, int> read_arguments(int argc, char** argv);

}  // namespace troupe::detail

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>

#include "runtime/cluster/link_client.hpp"
#include "runtime/metrics/metrics_place.hpp"
#include "runtime/system/system.hpp"

namespace troupe::detail {

/// What the command line of a troupe::run program says.
struct program_arguments {
  system_options system;
  metrics_place metrics{.port = 0};
  std::string log_level = "info";
  std::string trace;      ///< A file to write it to; empty: none.
  std::size_t nodes = 0;  ///< To wait for.
  std::optional<link_client_options> join;
};

/// Those, or the exit code of a help text or a mistake.
std::variant<program_arguments, int> read_arguments(int argc, char** argv);

}  // namespace troupe::detail

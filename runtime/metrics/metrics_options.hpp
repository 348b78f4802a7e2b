#pragma once
// The command-line options for metrics that every program has.

#include <CLI/CLI.hpp>

#include "runtime/metrics/metrics_place.hpp"

namespace troupe {

/// Adds `--metrics-port`, `--metrics-address` and `--metrics-allow-host` to a command. Without
/// `--metrics-address` the environment variable TROUPE_METRICS_ADDRESS is used if it is set.
inline void add_metrics_options(CLI::App& command, metrics_place& to) {
  command.add_option("--metrics-port", to.port, "port of the Prometheus metrics; 0 means none")
      ->check(CLI::Range(0, 65535))
      ->each([&to](const std::string&) { to.port_asked = true; })
      ->capture_default_str();
  command
      .add_option("--metrics-address", to.address,
                  "address to serve metrics at; 0.0.0.0 means every interface")
      ->envname("TROUPE_METRICS_ADDRESS")
      ->capture_default_str();
  command
      .add_option("--metrics-allow-host", to.allowed_hosts,
                  "a further name by which the metrics may be asked for, such as that of a proxy; "
                  "* means all; the option may be repeated")
      ->allow_extra_args(false);
}

}  // namespace troupe

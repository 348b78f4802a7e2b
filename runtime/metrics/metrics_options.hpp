#pragma once

#include <CLI/CLI.hpp>

#include "runtime/metrics/metrics_place.hpp"

namespace troupe {

/// Adds `--metrics-port` and `--metrics-address` to a command. The environment's
/// TROUPE_METRICS_ADDRESS is taken where the command line has no address.
inline void add_metrics_options(CLI::App& command, metrics_place& to) {
  command.add_option("--metrics-port", to.port, "serve Prometheus metrics here; 0: don't")
      ->check(CLI::Range(0, 65535))
      ->each([&to](const std::string&) { to.port_asked = true; })
      ->capture_default_str();
  command
      .add_option("--metrics-address", to.address,
                  "the address to serve them at; 0.0.0.0: every interface")
      ->envname("TROUPE_METRICS_ADDRESS")
      ->capture_default_str();
}

}  // namespace troupe

#pragma once
// Opens an earlier run so that train() can go on with it.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "algorithms/run/train.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

/// An earlier run that is to go on.
template <class Config>
struct resumed_run {
  Config config;                   ///< The configuration stored with the run.
  std::optional<checkpoint> from;  ///< The newest good checkpoint, or none if there was none yet.
};

/// Opens the run directory of an earlier run. Throws run_directory_error, config_error, and what
/// newest_checkpoint throws.
template <class Config>
resumed_run<Config> open_run(const std::string& directory, metrics_registry& metrics) {
  const auto document = run_directory::open(directory).config();
  auto config = parse_config<Config>(document);
  auto from = newest_checkpoint(directory, algorithm_with(config).settings, metrics);
  return {std::move(config), std::move(from)};
}

}  // namespace troupe

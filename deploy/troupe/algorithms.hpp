#pragma once
// The algorithms that the command knows: a line each in algorithms.cpp.

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "algorithms/ppo/ppo_config.hpp"

namespace troupe::command {

struct algorithm {
  const char* name;
  const char* what;
  /// Reads a configuration, as the run that PPO's cast plays. Throws config_error.
  ppo_config (*read)(const nlohmann::json& document);
  nlohmann::json (*schema)();
};

std::span<const algorithm> algorithms();

/// Throws std::invalid_argument naming the known algorithms and the nearest.
const algorithm& find_algorithm(const std::string& name);

/// Reads the configuration in a run directory, which says whose it is. Throws config_error.
ppo_config read_stored(const nlohmann::json& document);

}  // namespace troupe::command

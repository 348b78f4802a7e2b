#pragma once
// The algorithms that the command knows: a line each in algorithms.cpp.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "algorithms/training/training_run.hpp"

namespace troupe::command {

struct algorithm {
  const char* name;
  const char* what;
  /// Reads a configuration. Throws config_error.
  trainable (*configure)(const nlohmann::json& document);
  nlohmann::json (*schema)();
};

std::span<const algorithm> algorithms();

/// Throws std::invalid_argument naming the known algorithms and the nearest.
const algorithm& find_algorithm(const std::string& name);

/// The algorithm that a configuration names, ppo where it names none. Throws as find_algorithm, and
/// config_error where `asked` is another.
const algorithm& algorithm_of(const nlohmann::json& document,
                              const std::optional<std::string>& asked = {});

}  // namespace troupe::command

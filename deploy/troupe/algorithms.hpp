#pragma once
// The algorithms that the command knows: a line each in algorithms.cpp.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "algorithms/run/train.hpp"

namespace troupe::command {

/// What the command line alone can allow, and no configuration file.
struct permissions {
  bool unsandboxed_code = false;  ///< to run what a model writes without a sandbox
};

struct algorithm {
  const char* name;
  const char* what;
  /// Reads a configuration. Throws config_error.
  trainable (*configure)(const nlohmann::json& document, const permissions& may);
  nlohmann::json (*schema)();
  /// Of a language model, else null: how well the model in a run's folder answers so many held-out
  /// problems; 0: as many as the run's own evaluation at the end. Throws what configure does, and
  /// what is wrong with the model.
  evaluation (*evaluate)(const nlohmann::json& document, const permissions& may,
                         const std::filesystem::path& model, std::size_t problems);
};

std::span<const algorithm> algorithms();

/// Throws std::invalid_argument naming the known algorithms and the nearest.
const algorithm& find_algorithm(const std::string& name);

/// The algorithm that a configuration names, ppo where it names none. Throws as find_algorithm, and
/// config_error where `asked` is another.
const algorithm& algorithm_of(const nlohmann::json& document,
                              const std::optional<std::string>& asked = {});

}  // namespace troupe::command

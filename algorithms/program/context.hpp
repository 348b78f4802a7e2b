#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/run/named_algorithm.hpp"

namespace troupe::command {

/// What the commands know of the program that they are part of.
struct context {
  std::string program;  ///< Its name, as it is typed.
  std::vector<named_algorithm> algorithms;
  std::string environment;  ///< Of a new run that names none; empty: its algorithm's own.

  /// Throws std::invalid_argument naming the known algorithms and the nearest.
  const named_algorithm& find(const std::string& name) const;

  /// The algorithm that a configuration names, ppo where it names none. Throws as find, and
  /// config_error where `asked` is another.
  const named_algorithm& algorithm_in(const nlohmann::json& document,
                                      const std::optional<std::string>& asked = {}) const;

  /// Whether any of them is of language models.
  bool has_tasks() const;
};

}  // namespace troupe::command

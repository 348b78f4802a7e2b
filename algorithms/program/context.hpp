#pragma once
// The program's data that its commands share.

#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/program/command_line.hpp"
#include "algorithms/run/named_algorithm.hpp"
#include "algorithms/run/settings.hpp"

namespace troupe::command {

/// The program's name and algorithms, which its commands work with.
struct context {
  std::string program;  ///< The program's name, as it is typed.
  std::vector<named_algorithm> algorithms;
  /// The environment of a new run that names none. Empty means the algorithm's default.
  std::string environment;
  /// Makes the callbacks of a run. May be null.
  std::function<run_callbacks(const run_settings& of)> callbacks = nullptr;

  /// Throws std::invalid_argument naming the known algorithms and the nearest.
  const named_algorithm& find(const std::string& name) const;

  /// The algorithm that a configuration names, or else `asked`, or else ppo. Throws like find, and
  /// config_error if the configuration and `asked` name different algorithms.
  const named_algorithm& algorithm_in(const nlohmann::json& document,
                                      const std::optional<std::string>& asked = {}) const;

  /// True if any of the algorithms trains language models.
  bool has_tasks() const;
};

/// Returns the stream for sentences. With --json stdout has the JSON object alone, and stderr has
/// warnings and errors alone; `verbose` keeps the sentences, on stderr.
std::FILE* for_people(bool json, bool verbose = false);
/// Logs warnings and errors alone for a command with --json, unless it is verbose.
void quiet_log(bool json, bool verbose = false);

/// The name_source of the program.
std::vector<known_name> known_names(const context& of, const std::string& kind,
                                    const std::string& algorithm);

}  // namespace troupe::command

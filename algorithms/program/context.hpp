#pragma once
// The program's data that its commands share.

#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/program/command_line.hpp"
#include "algorithms/program/own_options.hpp"
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

  /// The program's own sections of options, which the algorithms of plug-ins get, too.
  std::vector<own_options> options = {};
  /// The algorithms of plug-ins that were found, by their names.
  mutable std::map<std::string, named_algorithm> from_plugins = {};

  /// Returns the algorithm of that name. Loads the plug-in if the name means one in a plug-in.
  /// Throws std::invalid_argument naming the known algorithms and the nearest, and plugin_error.
  const named_algorithm& find(const std::string& name) const;

  /// The algorithm that a configuration names, or else `asked`, or else ppo. Throws like find, and
  /// config_error if the configuration and `asked` name different algorithms.
  const named_algorithm& algorithm_in(const nlohmann::json& document,
                                      const std::optional<std::string>& asked = {}) const;

  /// The algorithm of a run, whose configuration this is. Throws std::invalid_argument that names
  /// the run and the algorithm, and says that another program or a plug-in has it, if it is not
  /// known.
  const named_algorithm& algorithm_of_run(const std::filesystem::path& run,
                                          const nlohmann::json& document) const;

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

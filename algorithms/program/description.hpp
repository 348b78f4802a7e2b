#pragma once
// What a command line consists of: its commands, options and values, for the manual page, shell
// completion, and the pages that are generated from it.

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "algorithms/program/command_line.hpp"

namespace troupe::command {

/// The value of an option or a positional argument.
struct argument_description {
  std::string name;                  ///< Such as TEXT or FILE. Empty for a flag.
  std::vector<std::string> choices;  ///< All values that are allowed. Empty means any.
  std::string range;                 ///< The range of a number, such as "0 - 1024".
};
argument_description describe_argument(const CLI::Option& option);

/// True if the option takes no value.
bool is_flag(const CLI::Option& option);
/// True if the option or the positional argument may be given several times.
bool is_repeatable(const CLI::Option& option);

/// The names of an option with their dashes, the short ones first. A positional argument has one,
/// without dashes.
std::vector<std::string> names_of(const CLI::Option& option);

/// The commands below `app` that its help shows, in the order of their declaration.
std::vector<const CLI::App*> shown_commands(const CLI::App& app);

/// The command line as JSON, with the options in the order of their declaration:
///
///   {"program", "version", "description", "examples", "options", "positionals", "commands"}
///
/// A command has a name, a description, options, positionals and commands. Of an option these
/// members are always there: names, argument (empty for a flag), default, description, needs,
/// excludes and environment. Others tell only of some options: choices, range, required and
/// repeatable.
nlohmann::ordered_json describe_command_line(const CLI::App& app, const program_words& words);

}  // namespace troupe::command

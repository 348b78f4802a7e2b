#pragma once
// The parser of a program's command line, for troupe::main and the `troupe` command.

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "algorithms/program/program_command.hpp"

namespace troupe::command {

/// The words about a program in its help.
struct program_words {
  std::string name;                         ///< The program's name, as it is typed.
  std::string help;                         ///< One sentence about what the program does.
  std::string environment = "CartPole-v1";  ///< The environment in the examples.
  bool has_tasks = false;                   ///< True if an algorithm trains language models.
};

/// A command line that was read without an error.
struct command_line {
  std::string log_level;
  std::function<int()> run;  ///< Runs the command and returns the exit code.
};

/// Reads the command line of a program with these commands. If it asks for help or is wrong, prints
/// the help or the error and returns the exit code instead.
std::variant<command_line, int> read_command_line(int argc, char** argv, const program_words& words,
                                                  const std::vector<program_command>& commands);

}  // namespace troupe::command

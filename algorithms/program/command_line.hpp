#pragma once
// The parser of a program's command line, for troupe::main and the `troupe` command.

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "algorithms/program/program_command.hpp"

namespace troupe::command {

/// A name that may stand in a command line.
struct known_name {
  std::string name;
  std::string help = {};
};

/// Returns the names of a kind, for the completion of command lines:
///
/// - ALGORITHM, ENVIRONMENT or TASK
/// - OPTION=VALUE: each option of `algorithm`, such as "trainer.lr=", and each value of those that
///   have few, such as "mode=async"
using name_source =
    std::function<std::vector<known_name>(const std::string& kind, const std::string& algorithm)>;

/// The words about a program in its help.
struct program_words {
  std::string name;                         ///< The program's name, as it is typed.
  std::string help;                         ///< One sentence about what the program does.
  std::string environment = "CartPole-v1";  ///< The environment in the examples.
  bool has_tasks = false;                   ///< True if an algorithm trains language models.
  name_source names = nullptr;              ///< Null means that no names are known.
};

/// Examples of the program's use, a command line each.
std::vector<std::string> examples_of(const program_words& words);

/// A command line that was read without an error.
struct command_line {
  std::string name;  ///< The program and its command, such as "troupe train", for errors.
  std::string log_level;
  std::function<int()> run;  ///< Runs the command and returns the exit code.
};

/// Reads the command line of a program with these commands, and with `completion` and the hidden
/// command `describe`. If it asks for help or for one of these two or is wrong, prints the answer
/// or the error and returns the exit code instead.
std::variant<command_line, int> read_command_line(int argc, char** argv, const program_words& words,
                                                  const std::vector<program_command>& commands);

}  // namespace troupe::command

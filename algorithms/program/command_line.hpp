#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "algorithms/program/program_command.hpp"

namespace troupe::command {

/// What a program's help says of it.
struct program_words {
  std::string name;                         ///< As it is typed.
  std::string help;                         ///< In a sentence.
  std::string environment = "CartPole-v1";  ///< Of the examples.
  bool has_tasks = false;                   ///< Some algorithm is of language models.
};

/// What was asked for.
struct command_line {
  std::string log_level;
  std::function<int()> run;  ///< The command: returns the exit code.
};

/// Reads the command line of a program with these commands. Where it asks for help or is wrong,
/// prints that and gives the exit code.
std::variant<command_line, int> read_command_line(int argc, char** argv, const program_words& words,
                                                  const std::vector<program_command>& commands);

}  // namespace troupe::command

#pragma once

#include <string>
#include <variant>

#include "deploy/troupe/commands.hpp"

namespace troupe::command {

/// A command with its arguments.
struct command_line {
  std::string log_level;
  std::variant<train_arguments, node_arguments, serve_env_arguments, eval_arguments, list_arguments,
               config_arguments, samples_arguments, health_arguments, certs_arguments,
               status_arguments, chat_arguments, models_arguments>
      command;
};

/// Reads the command line. Where it asks for help or is wrong, prints that and gives the exit code.
std::variant<command_line, int> read_command_line(int argc, char** argv);

}  // namespace troupe::command

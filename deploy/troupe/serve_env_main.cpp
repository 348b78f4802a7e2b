// The program behind `troupe serve-env`. It links no libtorch, so that a server starts at once and
// is small: many of them run beside each other.

#include <cstdio>

#include "deploy/troupe/command_line.hpp"
#include "runtime/log.hpp"

int main(int argc, char** argv) {
  using namespace troupe::command;
  const auto read = read_command_line(argc, argv);
  if (const int* code = std::get_if<int>(&read)) return *code;
  const auto& line = std::get<command_line>(read);
  troupe::log::set_level(line.log_level);
  const auto* arguments = std::get_if<serve_env_arguments>(&line.command);
  if (arguments) return serve_env(*arguments);
  std::fputs("troupe: this is the program of `troupe serve-env` alone\n", stderr);
  return 2;
}

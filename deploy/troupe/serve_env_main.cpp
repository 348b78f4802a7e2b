// The program behind `troupe serve-env`. It does not link libtorch, so that a server starts at once
// and takes little memory, since many of them run beside each other.

#include "deploy/troupe/commands.hpp"
#include "runtime/base/log.hpp"

int main(int argc, char** argv) {
  using namespace troupe::command;
  const auto read =
      read_command_line(argc, argv, words_of_troupe(), further_commands({.serve_env = serve_env}));
  if (const int* wrong = std::get_if<int>(&read)) return *wrong;
  const auto& line = std::get<command_line>(read);
  troupe::log::set_level(line.log_level);
  return line.run();
}

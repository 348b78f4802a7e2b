// The program behind `troupe serve-env`. It does not link libtorch, so that a server starts at once
// and takes little memory, since many of them run beside each other.

#include "actors/worlds/registry.hpp"
#include "deploy/troupe/commands.hpp"
#include "runtime/base/log.hpp"

namespace {

/// The names of environments, which `troupe` asks this program for, since it starts at once.
std::vector<troupe::command::known_name> known_names(const std::string& kind, const std::string&) {
  std::vector<troupe::command::known_name> names;
  if (kind != "ENVIRONMENT") return names;
  for (const auto& id : troupe::known_environments()) names.push_back({id});
  return names;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace troupe::command;
  auto words = words_of_troupe();
  words.names = known_names;
  const auto read =
      read_command_line(argc, argv, words, further_commands({.serve_env = serve_env}));
  if (const int* wrong = std::get_if<int>(&read)) return *wrong;
  const auto& line = std::get<command_line>(read);
  troupe::log::set_level(line.log_level);
  return line.run();
}

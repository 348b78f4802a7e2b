// The program behind `troupe chat`, `troupe models`, `troupe check-data` and `troupe
// check-sandbox`. It links the libraries that read language models, tokenise texts and read
// datasets.

#include <cstdio>
#include <cstdlib>

#include "deploy/troupe/commands.hpp"
#include "runtime/base/log.hpp"

namespace {

int run(int argc, char** argv) {
  using namespace troupe::command;
  const auto read = read_command_line(argc, argv, words_of_troupe(),
                                      further_commands({.chat = chat,
                                                        .models = models,
                                                        .check_data = check_data,
                                                        .check_sandbox = check_sandbox}));
  if (const int* wrong = std::get_if<int>(&read)) return *wrong;
  const auto& line = std::get<command_line>(read);
  troupe::log::set_level(line.log_level);
  return line.run();
}

}  // namespace

int main(int argc, char** argv) {
  const int code = run(argc, argv);
  std::fflush(nullptr);
  std::_Exit(code);  // skips libtorch's destructors, see work.cpp
}

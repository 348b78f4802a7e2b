// The program behind `troupe chat` and `troupe models`: what reads language models, with the
// libraries that cut texts into tokens.

#include <cstdio>
#include <cstdlib>

#include "deploy/troupe/command_line.hpp"
#include "runtime/log.hpp"

namespace {

int run(const troupe::command::command_line& line) {
  using namespace troupe::command;
  troupe::log::set_level(line.log_level);
  if (const auto* arguments = std::get_if<chat_arguments>(&line.command)) return chat(*arguments);
  if (const auto* arguments = std::get_if<models_arguments>(&line.command))
    return models(*arguments);
  std::fputs("troupe: this is the program of `troupe chat` and `troupe models` alone\n", stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const auto read = troupe::command::read_command_line(argc, argv);
  const int* wrong = std::get_if<int>(&read);
  const int code = wrong ? *wrong : run(std::get<0>(read));
  std::fflush(nullptr);
  std::_Exit(code);  // without 0.1 s of libtorch's leave-taking, see work.cpp
}

// The `troupe` command as it is typed. This program prints help and errors of the command line, and
// runs `troupe health` (which container runtimes call every few seconds), `troupe samples` and
// `troupe status`. It executes another program for everything else: ../libexec/troupe/serve-env
// (serve_env_main.cpp), ../libexec/troupe/troupe (work.cpp) or ../libexec/troupe/language-model
// (language_model_main.cpp). The last two link libtorch, which takes half a second to load: too
// long to wait for a help text.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "algorithms/program/commands.hpp"
#include "deploy/troupe/commands.hpp"

namespace {

/// Replaces this process by a program in libexec. If that fails, prints the error and returns the
/// exit code.
int become(const char* program, char** argv) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto work = self.parent_path().parent_path() / "libexec" / "troupe" / program;
  execv(work.c_str(), argv);
  std::fprintf(stderr, "troupe: cannot start %s: %s; expected it where `cmake --install` puts it\n",
               work.c_str(), std::strerror(errno));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace troupe::command;
  const auto by = [argv](const char* program) {
    return [=](const auto&) { return become(program, argv); };
  };
  const auto words = words_of_troupe();
  auto commands = standard_commands(
      words, {.train = by("troupe"),
              .eval = by("troupe"),
              .config = by("troupe"),
              .list = by("troupe"),
              .status = [&](const status_arguments& asked) { return status(asked, words.name); },
              .node = by("troupe")});
  const auto further = further_commands({.serve_env = by("serve-env"),
                                         .samples = samples,
                                         .health = health,
                                         .certs = by("troupe"),
                                         .chat = by("language-model"),
                                         .models = by("language-model")});
  commands.insert(commands.end(), further.begin(), further.end());
  const auto read = read_command_line(argc, argv, words, commands);
  const int* wrong = std::get_if<int>(&read);
  return wrong ? *wrong : std::get<command_line>(read).run();
}

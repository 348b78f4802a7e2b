// The `troupe` command as it is typed. This program prints help and errors of the command line, and
// runs `troupe health` (which container runtimes call every few seconds), `troupe samples` and
// `troupe status`. It executes another program for everything else: ../libexec/troupe/serve-env
// (serve_env_main.cpp), ../libexec/troupe/troupe (work.cpp) or ../libexec/troupe/language-model
// (language_model_main.cpp). The last two link libtorch, which takes half a second to load: too
// long to wait for a help text.

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "algorithms/program/commands.hpp"
#include "deploy/troupe/commands.hpp"

namespace {

using troupe::command::known_name;

/// The path of a program in libexec.
std::filesystem::path find_program(const char* program) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return self.parent_path().parent_path() / "libexec" / "troupe" / program;
}

/// Replaces this process by a program in libexec. If that fails, prints the error and returns the
/// exit code.
int become(const char* program, char** argv) {
  const auto work = find_program(program);
  execv(work.c_str(), argv);
  std::fprintf(stderr, "troupe: cannot start %s: %s; expected it where `cmake --install` puts it\n",
               work.c_str(), std::strerror(errno));
  return 1;
}

/// Runs a program and returns what it prints on stdout. Returns an empty string if it can't be run.
std::string output_of(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  const auto child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execv(argv.front(), argv.data());
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 4096> block;
  for (ssize_t n; (n = read(ends[0], block.data(), block.size())) > 0;)
    text.append(block.data(), static_cast<std::size_t>(n));
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return text;
}

/// The names that the programs in libexec know. The one that serves environments starts fastest.
std::vector<known_name> ask_for_names(const std::string& kind, const std::string& algorithm) {
  const auto program = find_program(kind == "ENVIRONMENT" ? "serve-env" : "troupe");
  std::istringstream lines(output_of({program.string(), "__names", kind, algorithm}));
  std::vector<known_name> names;
  for (std::string line; std::getline(lines, line);) {
    const auto tab = line.find('\t');
    if (tab != std::string::npos) names.push_back({line.substr(0, tab), line.substr(tab + 1)});
  }
  return names;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace troupe::command;
  const auto by = [argv](const char* program) {
    return [=](const auto&) { return become(program, argv); };
  };
  auto words = words_of_troupe();
  words.names = ask_for_names;
  auto commands = standard_commands(
      words, {.train = by("troupe"),
              .eval = by("troupe"),
              .check_env = by("troupe"),
              .check_rule = by("troupe"),
              .config = by("troupe"),
              .list = by("troupe"),
              .status = [&](const status_arguments& asked) { return status(asked, words.name); },
              .node = by("troupe")});
  const auto further = further_commands({.serve_env = by("serve-env"),
                                         .samples = samples,
                                         .health = health,
                                         .certs = by("troupe"),
                                         .chat = by("language-model"),
                                         .models = by("language-model"),
                                         .check_data = by("language-model"),
                                         .pull_env = pull_env,
                                         .check_sandbox = by("language-model")});
  commands.insert(commands.end(), further.begin(), further.end());
  const auto read = read_command_line(argc, argv, words, commands);
  const int* wrong = std::get_if<int>(&read);
  return wrong ? *wrong : std::get<command_line>(read).run();
}

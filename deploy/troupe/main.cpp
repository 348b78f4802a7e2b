// The `troupe` command as it is typed. Help, a mistyped option, `troupe health`, which a
// container's runtime asks every few seconds, `troupe samples` and `troupe status` are answered
// here; everything else is done by a program that takes this one's place:
// ../libexec/troupe/serve-env (serve_env_main.cpp), or ../libexec/troupe/troupe (work.cpp) or
// language-model (language_model_main.cpp), which link libtorch. That takes half a second to load:
// too long to wait for a help text.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "deploy/troupe/command_line.hpp"

int main(int argc, char** argv) {
  const auto read = troupe::command::read_command_line(argc, argv);
  if (const int* code = std::get_if<int>(&read)) return *code;
  const auto& command = std::get<troupe::command::command_line>(read).command;
  if (const auto* health = std::get_if<troupe::command::health_arguments>(&command)) {
    return troupe::command::health(*health);
  }
  if (const auto* samples = std::get_if<troupe::command::samples_arguments>(&command)) {
    return troupe::command::samples(*samples);
  }
  if (const auto* status = std::get_if<troupe::command::status_arguments>(&command)) {
    return troupe::command::status(*status);
  }

  const char* program = "troupe";
  if (std::holds_alternative<troupe::command::serve_env_arguments>(command)) program = "serve-env";
  if (std::holds_alternative<troupe::command::chat_arguments>(command) ||
      std::holds_alternative<troupe::command::models_arguments>(command)) {
    program = "language-model";
  }
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto work = self.parent_path().parent_path() / "libexec" / "troupe" / program;
  execv(work.c_str(), argv);
  std::fprintf(stderr, "troupe: cannot start %s: %s; expected it where `cmake --install` puts it\n",
               work.c_str(), std::strerror(errno));
  return 1;
}

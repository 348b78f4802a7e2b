#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "deploy/troupe/commands.hpp"

namespace troupe::command {

namespace {

/// Runs a command, whose output is this one's, and returns its exit code; none if there is no such
/// command.
std::optional<int> run(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv.front(), nullptr, nullptr, argv.data(), environ);
  if (error == ENOENT) return std::nullopt;
  if (error != 0) throw std::system_error(error, std::generic_category(), words.front());
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The image that OpenEnv calls so, or the name itself if it is one of an image.
std::string image_of(const std::string& name) {
  const bool is_image = name.find_first_of("/:") != std::string::npos;
  return is_image ? name : name + "-env:latest";
}

/// Pulls the image with the first tool that is there, and returns its name.
std::string pull(const std::vector<std::string>& tools, const std::string& image) {
  for (const auto& tool : tools) {
    const auto code = run({tool, "pull", image});
    if (!code) continue;
    if (*code != 0)
      throw std::runtime_error(
          fmt::format("`{} pull {}` ended with exit code {}; expected the image "
                      "of an OpenEnv environment that it finds",
                      tool, image, *code));
    return tool;
  }
  throw std::runtime_error(
      fmt::format("expected {} on the PATH, got none", fmt::join(tools, " or ")));
}

}  // namespace

int pull_env(const pull_env_arguments& arguments) {
  try {
    if (arguments.name.empty() || arguments.name.front() == '-')
      throw std::invalid_argument(
          fmt::format("expected the name of an image, got \"{}\"", arguments.name));
    const auto image = image_of(arguments.name);
    const auto tool = pull(arguments.tool.empty() ? std::vector<std::string>{"docker", "podman"}
                                                  : std::vector{arguments.tool},
                           image);
    std::printf(
        "%s is here. These commands serve it to this machine alone, and train on it:\n"
        "  %s run --rm -p 127.0.0.1:8000:8000 %s\n"
        "  troupe train --algo grpo task.world=openenv:http://127.0.0.1:8000 model.path=MODEL\n",
        image.c_str(), tool.c_str(), image.c_str());
    return 0;
  } catch (const std::invalid_argument& e) {
    std::fprintf(stderr, "troupe pull-env: %s\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "troupe pull-env: %s\n", e.what());
    return 1;
  }
}

}  // namespace troupe::command

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "deploy/troupe/commands.hpp"
#include "runtime/base/print_error.hpp"

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

/// The image of an environment of OpenEnv, by its short name, such as "echo", or by the name of its
/// repository, "openenv/echo_env". OpenEnv's client makes the image's name of the repository's in
/// the same way. Other names are those of images.
std::string image_of(const std::string& name) {
  constexpr std::string_view owner = "openenv/";
  const bool is_repository = name.starts_with(owner) && name.find(':') == std::string::npos;
  if (!is_repository && name.find_first_of("/:") != std::string::npos) return name;
  auto environment = is_repository ? name.substr(owner.size()) : name;
  std::ranges::transform(environment, environment.begin(), [](unsigned char c) {
    return std::isalnum(c) ? static_cast<char>(std::tolower(c)) : '-';
  });
  if (!is_repository && !environment.ends_with("-env")) environment += "-env";
  return "registry.hf.space/openenv-" + environment + ":latest";
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
        "  troupe check-env openenv:http://127.0.0.1:8000\n"
        "  troupe train --env openenv:http://127.0.0.1:8000\n"
        "  troupe train --algo grpo task.world=openenv:http://127.0.0.1:8000 model.path=MODEL\n"
        "A run starts and stops the container by itself with the options\n"
        "  --env openenv:NAME env.options.image=%s env.options.tool=%s\n",
        image.c_str(), tool.c_str(), image.c_str(), image.c_str(), tool.c_str());
    return 0;
  } catch (const std::invalid_argument& e) {
    print_error("troupe pull-env", e.what());
    return 2;
  } catch (const std::exception& e) {
    print_error("troupe pull-env", e.what());
    return 1;
  }
}

}  // namespace troupe::command

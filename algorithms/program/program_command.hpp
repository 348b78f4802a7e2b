#pragma once
// A command of a program, for the built-in commands and a program's own (main.hpp).

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace CLI {
class App;
}

namespace troupe {

/// A command of a program, whose name is typed after the program's name.
struct program_command {
  std::string name;
  std::string help;
  /// Declares the command's options, and returns the function that runs the command once they are
  /// read. That function returns the exit code of the process (docs/errors.md). Null means that the
  /// program does not have the command.
  std::function<std::function<int()>(CLI::App& options)> declare;
};

/// A command whose options `declare` reads into Arguments. If `run` is null, the program does not
/// have the command.
template <class Arguments>
program_command command_of(
    std::string name, std::string help,
    std::type_identity_t<std::function<void(CLI::App& options, Arguments& to)>> declare,
    std::type_identity_t<std::function<int(const Arguments&)>> run) {
  if (!run) return {std::move(name), std::move(help), nullptr};
  return {std::move(name), std::move(help), [=](CLI::App& options) -> std::function<int()> {
            const auto arguments = std::make_shared<Arguments>();
            declare(options, *arguments);
            return [=] { return run(*arguments); };
          }};
}

}  // namespace troupe

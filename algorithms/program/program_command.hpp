#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace CLI {
class App;
}

namespace troupe {

/// A command of a program: what is typed after the program's name.
struct program_command {
  std::string name;
  std::string help;
  /// Declares its options, and gives what does it once they are read: that returns the process's
  /// exit code, see docs/errors.md. Null: the program does not have it.
  std::function<std::function<int()>(CLI::App& options)> declare;
};

/// A command whose options `declare` reads into Arguments. Where `run` is null, the program does
/// not have it.
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

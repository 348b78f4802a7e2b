#pragma once
// A whole program around environments and algorithms of your own:
//
//   int main(int argc, char** argv) {
//     return troupe::main(argc, argv, {.environments = {environment_of<corridor>("Corridor-v0")}});
//   }
//
// The program has these commands of `troupe`: train, eval, check-env, check-rule, config, list,
// status, node and completion. It trains with every built-in algorithm, resumes runs from
// checkpoints, serves its metrics page, stops at Ctrl-C, and hosts its own environments in worker
// processes and on nodes. It can have options and callbacks of its own. examples/own_program.cpp is
// a complete program.

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "actors/networks/encoder.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/program/built_in_algorithms.hpp"
#include "algorithms/program/own_options.hpp"
#include "algorithms/program/program_command.hpp"
#include "algorithms/run/named_algorithm.hpp"
#include "algorithms/run/settings.hpp"

namespace troupe {

/// An environment under the name by which runs ask for it.
struct named_environment {
  std::string id;  ///< "Corridor-v0"
  /// Makes one environment. Null means that only `make_many` makes them, without wrappers.
  environment_factory make;
  /// Makes several environments that are stepped together. Null means several calls of `make`.
  vector_environment_factory make_many = nullptr;
};

/// The environment of class Env, which its default constructor makes. A final class is stepped
/// without virtual calls.
template <class Env>
  requires std::is_base_of_v<environment, Env> && std::is_default_constructible_v<Env>
named_environment environment_of(std::string id) {
  return {std::move(id), [] { return std::make_unique<Env>(); },
          [](std::size_t size) { return std::make_unique<vector_env<Env>>(size); }};
}

/// A network under the name by which policy.encoder asks for it (actors/gradients/own_network.hpp).
struct named_encoder {
  std::string name;  ///< "gated"
  encoder_function function;
};

/// A program's own parts, besides the built-in environments and built_in_algorithms().
struct program {
  std::string name = {};  ///< The name in help and messages. Empty means the name as typed.
  std::string help = {};  ///< One sentence about what the program does.
  /// If there is exactly one, `train` without --env trains on it.
  std::vector<named_environment> environments = {};
  /// The program's own algorithms. Tasks of language models belong to one: grpo_algorithm({task}).
  std::vector<named_algorithm> algorithms = {};
  /// The program's own networks, for policy.encoder.
  std::vector<named_encoder> encoders = {};
  std::vector<program_command> commands = {};
  /// Options beside those of the algorithms, such as options_section("my", &mine): `my.every=3` on
  /// the command line, and the section "my" in a configuration file. `config` lists them.
  std::vector<own_options> options = {};
  /// Returns the functions that a run of `train` calls after its updates and evaluations, and that
  /// may stop it. Called once for each run, when its configuration has been read and before it
  /// begins; also for a run that is resumed. May be null.
  std::function<run_callbacks(const run_settings& of)> callbacks = nullptr;
};

/// Runs the command line and returns the exit code of the process (docs/errors.md), which is also 2
/// if a part of the program or a section of options has no name, or a name that is taken. In
/// a process that was started to host replicas, it hosts them and does not return. Call it once, at
/// the beginning of `main`, since code before it runs in those processes, too.
int main(int argc, char** argv, program what);

}  // namespace troupe

#pragma once
// A whole program around environments and algorithms of your own:
//
//   int main(int argc, char** argv) {
//     return troupe::main(argc, argv, {.environments = {environment_of<corridor>("Corridor-v0")}});
//   }
//
// It has the commands of `troupe`: train, eval, config, list, status and node. So it trains with
// every built-in algorithm, keeps checkpoints and goes on from them, shows its metrics page, stops
// at Ctrl-C, and hosts its own environments in worker processes and on nodes. A whole one:
// examples/own_program.cpp.

#include <string>
#include <type_traits>
#include <vector>

#include "actors/worlds/registry.hpp"
#include "algorithms/program/built_in_algorithms.hpp"
#include "algorithms/program/program_command.hpp"
#include "algorithms/run/named_algorithm.hpp"

namespace troupe {

/// An environment under the name by which runs ask for it.
struct named_environment {
  std::string id;            ///< "Corridor-v0"
  environment_factory make;  ///< Null: there is only `make_many`, and wrappers don't fit.
  vector_environment_factory make_many = nullptr;  ///< Null: `make`, as often.
};

/// The one that is of this class, made by its default constructor; a final class is stepped without
/// virtual calls.
template <class Env>
  requires std::is_base_of_v<environment, Env> && std::is_default_constructible_v<Env>
named_environment environment_of(std::string id) {
  return {std::move(id), [] { return std::make_unique<Env>(); },
          [](std::size_t size) { return std::make_unique<vector_env<Env>>(size); }};
}

/// What a program has besides the built-in environments and built_in_algorithms().
struct program {
  std::string name = {};  ///< As help and messages call it; empty: as it was typed.
  std::string help = {};  ///< What it does, in a sentence.
  /// Where it is one alone, `train` without --env is on it.
  std::vector<named_environment> environments = {};
  /// Language models' tasks are an algorithm's: grpo_algorithm({task}).
  std::vector<named_algorithm> algorithms = {};
  std::vector<program_command> commands = {};
};

/// Does what the command line says, and returns the process's exit code (docs/errors.md); 2 also
/// where an environment or an algorithm has no name, or one that is taken. In a process that was
/// started to host replicas it does that, and does not return. So it stands first in `main`: what
/// stands before it runs in those processes, too. Call it once.
int main(int argc, char** argv, program what);

}  // namespace troupe

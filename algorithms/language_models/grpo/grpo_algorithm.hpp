#pragma once
// GRPO as one of a program's algorithms, for troupe::main (algorithms/program/main.hpp).

#include <vector>

#include "algorithms/language_models/grpo/grpo_task.hpp"
#include "algorithms/run/named_algorithm.hpp"

namespace troupe {

/// GRPO for the command line of a program, on the built-in tasks and the program's own:
/// `troupe::main(argc, argv, {.algorithms = {grpo_algorithm({alphabet})}})`. If the program has
/// exactly one task of its own, that is the default. Throws std::invalid_argument if the name of a
/// task is empty or taken.
named_algorithm grpo_algorithm(const std::vector<grpo_task>& own = {});

}  // namespace troupe

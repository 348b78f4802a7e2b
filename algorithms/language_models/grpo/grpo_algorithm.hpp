#pragma once

#include <vector>

#include "algorithms/language_models/grpo/grpo_task.hpp"
#include "algorithms/run/named_algorithm.hpp"

namespace troupe {

/// GRPO as a command line asks for it, on Troupe's tasks and these of a program's own:
/// `troupe::main(argc, argv, {.algorithms = {grpo_algorithm({alphabet})}})`. One task of its own is
/// learned where none is named. Throws std::invalid_argument where a task's name is empty or taken.
named_algorithm grpo_algorithm(const std::vector<grpo_task>& own = {});

}  // namespace troupe

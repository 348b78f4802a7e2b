#pragma once

#include <vector>

#include "algorithms/language_models/grpo/grpo_task.hpp"
#include "algorithms/run/option_rules.hpp"

namespace troupe {

/// The options that a run of the task by `asked` has no use for; of options that are null where
/// nobody has asked for a value.
std::vector<idle_option> grpo_idle_options(const grpo_config& asked, const grpo_task& task);

}  // namespace troupe

#pragma once
// The options of a GRPO configuration that have no effect.

#include <vector>

#include "algorithms/language_models/grpo/grpo_task.hpp"
#include "algorithms/run/option_rules.hpp"

namespace troupe {

/// The options in `asked` that have no effect on a run of the task. Options that are null by
/// default only count if they have a value. A run names them in a warning when it begins.
std::vector<idle_option> grpo_idle_options(const grpo_config& asked, const grpo_task& task);

}  // namespace troupe

#pragma once
// The defaults of GRPO that depend on the task.

#include "algorithms/language_models/grpo/config.hpp"
#include "algorithms/language_models/grpo/grpo_task.hpp"

namespace troupe {

/// Gives each option without a value its default, which depends on the kind of task: problems for
/// the letters model, problems for a chat model, or games. A run uses such a configuration and
/// keeps it in its config.json.
grpo_config completed(grpo_config config, const grpo_task& task);

}  // namespace troupe

#pragma once
// The defaults of GRPO that depend on the task.

#include <vector>

#include "algorithms/language_models/grpo/config.hpp"
#include "algorithms/language_models/grpo/grpo_task.hpp"

namespace troupe {

/// Gives each option without a value its default, which depends on the kind of task: problems for
/// the letters model, problems for a chat model, or games. A run uses such a configuration and
/// keeps it in its config.json.
grpo_config completed(grpo_config config, const grpo_task& task);
/// The same for several tasks, of which the first decides the options that they share. The parts
/// get completed configurations, too.
grpo_config completed(grpo_config config, std::vector<grpo_part>& parts);

}  // namespace troupe

#pragma once

#include "algorithms/grpo/grpo_config.hpp"
#include "algorithms/grpo/grpo_task.hpp"

namespace troupe {

/// With a value in place of each option that has none, by the kind of task: problems in letters,
/// problems for a chat model, or games. A run is by such a configuration, and keeps it.
grpo_config completed(grpo_config config, const grpo_task& task);

}  // namespace troupe

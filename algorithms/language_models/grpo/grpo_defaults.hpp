#pragma once

#include "algorithms/language_models/grpo/config.hpp"
#include "algorithms/language_models/grpo/grpo_task.hpp"

namespace troupe {

/// With a value in place of each option that has none, by the kind of task: problems in letters,
/// problems for a chat model, or games. A run is by such a configuration, and keeps it.
grpo_config completed(grpo_config config, const grpo_task& task);

}  // namespace troupe

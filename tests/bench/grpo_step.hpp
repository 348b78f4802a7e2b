#pragma once

#include <nlohmann/json_fwd.hpp>

namespace troupe {

/// Whole steps of GRPO beside TRL's, in turn: what a run does from asking problems to the
/// generator's new weights. CPU seconds of all threads, the best of three:
///
///   grpo_step_cpu_s, grpo_step_trl_cpu_s, and grpo_step_vs_trl, the second over the first; null
///   and grpo_step_vs_trl_missing where TRL can't be had
void measure_whole_step(nlohmann::ordered_json& results);

}  // namespace troupe

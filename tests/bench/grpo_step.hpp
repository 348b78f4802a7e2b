#pragma once

#include <nlohmann/json_fwd.hpp>

namespace troupe {

/// Whole steps of GRPO beside TRL's, in turn: what a run does from asking problems to the
/// generator's new weights. Of grpo_batch::short_answers, in CPU seconds of all threads, the best
/// of three:
///
///   grpo_step_cpu_s, grpo_step_trl_cpu_s, and grpo_step_vs_trl, the second over the first; null
///   and grpo_step_vs_trl_missing where TRL can't be had
///   grpo_step_answer_tokens   that either side samples, and trains on, in a step
///   grpo_step_computed_tokens, grpo_step_trl_computed_tokens
///                             that go through the model with a gradient, prompts included
///
/// Throws if the two sides sample different numbers of tokens, or ask prompts of different lengths.
void measure_whole_step(nlohmann::ordered_json& results);

/// The same of grpo_batch::long_answers, and the best of two; each name ends in _long.
void measure_long_step(nlohmann::ordered_json& results);

}  // namespace troupe

#pragma once
// The evaluation of a run's model after the run, for programs and `troupe eval`.

#include <filesystem>

#include "actors/evaluator/evaluator.hpp"
#include "algorithms/language_models/grpo/grpo_task.hpp"

namespace troupe {

/// Evaluates a model, which is a folder that a run of this configuration has written. Asks this
/// many held-out problems, each once and none that evaluations during training ask, and takes the
/// likeliest tokens. A right answer scores 1, any other 0; a game scores its reward. Runs on a
/// system of its own. Throws config_error like algorithm_with, std::invalid_argument for more
/// problems than there are, and llm_file_error for a folder that can't be read.
evaluation evaluate_model(grpo_config config, const std::filesystem::path& model,
                          std::size_t problems);
/// Evaluates a model in the same way on a task of the program's own.
evaluation evaluate_model(grpo_config config, const grpo_task& task,
                          const std::filesystem::path& model, std::size_t problems);

}  // namespace troupe

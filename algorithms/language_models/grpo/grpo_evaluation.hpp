#pragma once

#include <filesystem>

#include "actors/evaluator/evaluator.hpp"
#include "algorithms/language_models/grpo/grpo_task.hpp"

namespace troupe {

/// Asks a model, a folder that a run of this configuration has left, that many held-out problems,
/// each once and none that evaluations during training ask, and takes the likeliest tokens: 1 for
/// each right answer, else 0. On a system of its own. Throws config_error as algorithm_with,
/// std::invalid_argument for more problems than there are and llm_file_error.
evaluation evaluate_model(grpo_config config, const std::filesystem::path& model,
                          std::size_t problems);
/// The same of a task of the program's own.
evaluation evaluate_model(grpo_config config, const grpo_task& task,
                          const std::filesystem::path& model, std::size_t problems);

}  // namespace troupe

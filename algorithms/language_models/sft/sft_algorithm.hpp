#pragma once
// Supervised fine-tuning as one of a program's algorithms, for troupe::main
// (algorithms/program/main.hpp), and the evaluation of a run's model after the run.

#include <filesystem>

#include "actors/evaluator/evaluator.hpp"
#include "algorithms/language_models/sft/config.hpp"
#include "algorithms/run/named_algorithm.hpp"

namespace troupe {

/// Supervised fine-tuning for the command line of a program.
named_algorithm sft_algorithm();

/// Evaluates a model, which is a folder that a run of this configuration has written, on so many of
/// the run's held-out examples; 0 means all. Returns minus the mean cross-entropy. Throws
/// config_error, std::invalid_argument for more examples than there are, jsonl_error if the data
/// can't be read, and llm_file_error for a folder that can't be read.
evaluation evaluate_model(sft_config config, const std::filesystem::path& model,
                          std::size_t examples);

}  // namespace troupe

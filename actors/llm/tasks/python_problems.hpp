#pragma once
// Problems from a generator in Python, and answers for rewards in Python.

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "actors/llm/tasks/problem.hpp"
#include "actors/python/python_dataset.hpp"
#include "actors/python/python_reward.hpp"

namespace troupe::llm {

/// Returns the problem of an item. `prompt` is a text, the question for both kinds of models, or a
/// list of messages, which is read with `tools` as rows of datasets are (data_rows.hpp). `answer`,
/// or else `target`, is a right answer, a text or a number, and may be missing. All keys but
/// `prompt` are columns. `text` is that of the item, in which keys have their order; empty means
/// any. Throws std::invalid_argument.
problem problem_of(const nlohmann::json& item, std::string_view text = {});

/// A task whose problems a generator in Python gives. The reward is 1 for an answer that is equal
/// to `answer`.
problem_task generator_task(std::string name, std::string function);

/// Reads the first problems of a generator's first epoch: those with the first counts.held_out
/// different prompts are held out, and up to counts.training after them are for training, at least
/// 1. Throws like python_dataset, and problem_counts_error if there are not as many.
problem_set first_problems(python_dataset_options options, const problem_counts& counts);

/// Makes the training problems of a generator's items. Items with held-out prompts are left out.
python_dataset<problem>::maker training_problems(const std::vector<problem>& held_out);

/// Returns an answer as rewards in Python get it. `prompt` is the question that the model was
/// asked. The columns are those of the problem. A problem without columns has the column `answer`,
/// and `tests_passed` if `is_code` is true. A prompt that is a conversation is given as its
/// messages.
judged_completion completion_of(const answered_problem& judged, std::string prompt, bool is_code);
/// The names of all columns that completion_of gives for these problems.
std::vector<std::string> columns_of(const std::vector<const problem*>& problems, bool is_code);

}  // namespace troupe::llm

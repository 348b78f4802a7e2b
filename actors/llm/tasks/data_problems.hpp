#pragma once
// Problems from a dataset file (data_rows.hpp). Each row is a JSON object:
//
//   {"question": "What is 2 + 3?", "answer": "5", "difficulty": 1}
//   {"messages": [{"role": "system", "content": "Be brief."},
//                 {"role": "user", "content": "What is 2 + 3?"}], "answer": 5}

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "actors/llm/tasks/data_rows.hpp"
#include "actors/llm/tasks/problem.hpp"

namespace troupe::llm {

/// Makes a problem of what a row asks: the prompt and the tools. Throws std::invalid_argument that
/// names the field.
problem unanswered_problem(const row_view& row, const data_fields& fields);

/// Makes a problem of a row. Levels are not numbered yet. Throws std::invalid_argument that names
/// the field.
problem problem_of_row(const row_view& row, const data_fields& fields);

/// The problems of a file in its order, and the names of their levels.
struct data_problems {
  std::vector<problem> problems;
  std::vector<std::string> levels;  ///< from the easiest; empty if there is no field of levels
};

/// Reads a file. `check` refuses a problem by throwing std::invalid_argument. Throws data_error
/// with all faults of the file, and like for_each_row.
data_problems read_data(const std::filesystem::path& path, const data_fields& fields,
                        const std::function<void(const problem&)>& check = nullptr);

/// The number of different prompts.
std::int64_t different_prompts(const std::vector<problem>& problems);

/// A task whose problems these are. The reward is 1 for an answer that is equal to the expected
/// one. By default usual_held_out prompts are held out.
problem_task data_task(std::string name, std::shared_ptr<const data_problems> data,
                       std::shared_ptr<const data_problems> held_out);

/// Divides problems into those for training and `held_out` ones that are drawn from the seed.
/// Problems with the same prompt stay together. If none is held out, the held-out problems are
/// those that are trained on, one for each prompt. Throws problem_counts_error if there are too
/// few.
problem_set divided(std::vector<problem> problems, std::int64_t held_out, std::uint64_t seed);

}  // namespace troupe::llm

#pragma once
// Problems from a dataset file. Each line is a JSON object:
//
//   {"question": "What is 2 + 3?", "answer": "5", "difficulty": 1}
//   {"messages": [{"role": "system", "content": "Be brief."},
//                 {"role": "user", "content": "What is 2 + 3?"}], "answer": 5}

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/llm/tasks/problem.hpp"

namespace troupe::llm {

/// The fields of the lines.
struct data_fields {
  /// The field of the prompt: a text, or a list of messages with "role" and "content". Or a
  /// template with the names of fields in braces, such as "{context}\n\n{question}"; {{ and }} are
  /// braces.
  std::string prompt = "prompt";
  /// The field of the right answer, a text or a number. Lines may lack it unless it is needed.
  std::string answer = "answer";
  bool needs_answer = true;
  /// The field of the level of a curriculum, a number or a text. Empty means that there is none.
  std::string level = {};
  /// The levels that are texts, from the easiest. Numbers need no list: the smallest is the
  /// easiest.
  std::vector<std::string> levels = {};
};

/// Thrown for a dataset with lines that can't be used. The message has one fault in each line, each
/// with the file, the line and the field.
class data_error : public std::invalid_argument {
 public:
  explicit data_error(const std::vector<std::string>& faults);
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  std::vector<std::string> faults_;
};

/// Makes a problem of a line. Levels are not numbered yet. Throws std::invalid_argument that names
/// the field.
problem problem_of_line(const nlohmann::json& line, const data_fields& fields);

/// The problems of a file in its order, and the names of their levels.
struct data_problems {
  std::vector<problem> problems;
  std::vector<std::string> levels;  ///< from the easiest; empty if there is no field of levels
};

/// Reads a JSON Lines file. `check` refuses a problem by throwing std::invalid_argument. Throws
/// data_error with all faults of the file, and jsonl_error if the file can't be read or has no
/// lines.
data_problems read_data(const std::filesystem::path& path, const data_fields& fields,
                        const std::function<void(const problem&)>& check = nullptr);

/// A task whose problems these are. The reward is 1 for an answer that is equal to the expected
/// one.
problem_task data_task(std::string name, std::shared_ptr<const data_problems> data,
                       std::shared_ptr<const data_problems> held_out);

/// Divides problems into those for training and `held_out` ones that are drawn from the seed.
/// Problems with the same prompt stay together. Throws problem_counts_error if there are too few.
problem_set divided(std::vector<problem> problems, std::int64_t held_out, std::uint64_t seed);

}  // namespace troupe::llm

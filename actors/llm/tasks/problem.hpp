#pragma once
// Problems whose answers a program can check, drawn from a seed. Language models learn them from
// rewards, without any data.

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/coder/function_tests.hpp"
#include "actors/llm/tokenizer/chat_template.hpp"
#include "actors/random/action_random.hpp"
#include "actors/reward/weighted_reward.hpp"

namespace troupe::llm {

/// A problem with its right answer.
struct problem {
  std::string question = {};      ///< the question in words, for models that read English
  std::string letters = {};       ///< the question for the letters model, such as "347>"
  std::string expected = {};      ///< the right answer, or for code one of the right answers
  tested_function function = {};  ///< the function to write; it has no tests if it is not code
  /// The fields of the problem's line in a dataset, a JSON object. Empty means none.
  std::string columns = {};
  /// The conversation that the answer goes on with, for chat models. Empty means that the question
  /// is its only message; else the question is the last message.
  std::vector<chat_message> messages = {};
  std::uint64_t level = 0;  ///< the level of a curriculum, from the easiest
  /// The tools that the answer may call, a JSON list (chat_options::tools). Empty means none.
  std::string tools = {};
};

/// The conversation of a problem: its messages, or its question as a user's message.
std::vector<chat_message> conversation_of(const problem& asked);
/// What tells problems apart: all messages of their conversations, and their tools.
std::string prompt_key(const problem& asked);

/// A problem with a model's answer, which reward functions judge.
struct answered_problem {
  problem asked;
  std::string answer;         ///< the text that the model wrote
  double tests_passed = 0.0;  ///< the share of tests passed, 0 to 1, if the task is code
};

/// The size of problems in digits or letters, and their numbers.
struct problem_counts {
  int size = 3;
  std::int64_t training = 700;
  /// The problems that are only used for evaluation. 0 is for the lines of a file: evaluations ask
  /// those that are trained on.
  std::int64_t held_out = 200;
};

struct data_problems;

/// A kind of problem.
struct problem_task {
  std::string name;       ///< such as "sum_digits"
  std::string what = {};  ///< a description in a few words
  /// Draws a problem that depends only on the arguments. `size` is the number of digits or letters,
  /// or another measure of difficulty.
  std::function<problem(action_random& random, int size)> draw;
  /// The model learns the weighted sum of these rewards. The first must be 1 for a right answer and
  /// 0 for any other; evaluations report its mean.
  std::vector<reward_function<answered_problem>> rewards;
  bool is_code = false;        ///< true if a coder runs answers before they are judged
  problem_counts counts = {};  ///< the default counts
  /// A generator in Python that gives the problems in place of `draw`, such as
  /// "my_tasks:problems"; see python_problems.hpp. Empty means none.
  std::string generator = {};
  /// The problems of a dataset, in place of `draw`; see data_problems.hpp. Null means none.
  std::shared_ptr<const data_problems> data = {};
  /// Those that are held out. Null means that some of `data` are.
  std::shared_ptr<const data_problems> held_out_data = {};
};

/// The sum of the digits of a number with `size` digits. The reward is 1 for a right answer.
problem_task sum_digits_task();
/// The sum, difference or product of two numbers of `size` digits. The reward is 1 for a right
/// answer.
problem_task arithmetic_task();
/// `size` letters in reverse order. A right answer gives half of the reward, and the share of right
/// positions the other half.
problem_task reversed_text_task();
/// A small Python function with constants of up to 1 + 8 `size`, and tests for it. The reward is
/// the share of tests passed. The task is for models that read English.
problem_task code_task();

/// All four tasks.
const std::vector<problem_task>& problem_tasks();

/// The problems of a run. All of them are different.
struct problem_set {
  std::vector<problem> training, held_out;
};

/// Reports counts that are not possible. The message names the wrong one, as in "size: expected 1
/// to 9, got 80".
struct problem_counts_error : std::invalid_argument {
  problem_counts_error(std::string option, std::string expectation)
      : std::invalid_argument(option + ": " + expectation),
        option(std::move(option)),
        expectation(std::move(expectation)) {}
  std::string option;       ///< The member of problem_counts.
  std::string expectation;  ///< The message without its name: "expected 1 to 9, got 80".
};

/// Draws problems that depend only on the arguments. Throws problem_counts_error for counts out of
/// range and if there are not as many different problems, and std::invalid_argument for a task
/// without `draw`.
problem_set make_problems(const problem_task& task, const problem_counts& counts,
                          std::uint64_t seed);

}  // namespace troupe::llm

#pragma once
// Questions whose answers a program can check, made from a seed: what language models learn from by
// reward, without any data.

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/coder/function_tests.hpp"
#include "actors/random/action_random.hpp"
#include "actors/reward/weighted_reward.hpp"

namespace troupe::llm {

struct problem {
  std::string question;      ///< in words, for models that read English
  std::string letters;       ///< the same in the few letters of letters_model.hpp: "347>"
  std::string expected;      ///< the right answer, or of code one that is right
  tested_function function;  ///< that is to be written; without tests where it's no code
};

/// What is judged.
struct answered_problem {
  problem asked;
  std::string answer;         ///< what the model wrote
  double tests_passed = 0.0;  ///< the share, where it's code: a coder has run it
};

struct problem_counts {
  int size = 3;
  std::int64_t training = 700;
  std::int64_t held_out = 200;  ///< for evaluation alone
};

/// A kind of problem.
struct problem_task {
  std::string name;       ///< "sum_digits"
  std::string what = {};  ///< in a few words
  /// A problem by its arguments alone. `size`: how many digits or letters, or what is as hard.
  std::function<problem(action_random& random, int size)> draw;
  /// Their weighted sum is what is learned. The first is what evaluations tell the mean of: 1 for a
  /// right answer and 0 for any other.
  std::vector<reward_function<answered_problem>> rewards;
  bool is_code = false;        ///< answers are run by a coder before they are judged
  problem_counts counts = {};  ///< where nobody asks for others
};

/// The sum of the digits of a number that has `size` of them. Reward: whether the answer is right.
problem_task sum_digits_task();
/// The sum, difference or product of two numbers of `size` digits. Reward: as above.
problem_task arithmetic_task();
/// `size` letters in reverse. Reward: half for the right answer, half for the share of places that
/// are right.
problem_task reversed_text_task();
/// A small Python function with constants of up to 1 + 8 `size`, and tests of it. Reward: the share
/// of tests passed. For models that read English.
problem_task code_task();

/// All of them.
const std::vector<problem_task>& problem_tasks();

/// No problem is there twice.
struct problem_set {
  std::vector<problem> training, held_out;
};

/// Counts that can't be had; `option` is the one that is blamed.
struct problem_counts_error : std::invalid_argument {
  problem_counts_error(std::string option, const std::string& message)
      : std::invalid_argument(message), option(std::move(option)) {}
  std::string option;
};

/// By the seed alone. Throws problem_counts_error, also where there aren't as many different ones,
/// and std::invalid_argument for a task without `draw`.
problem_set make_problems(const problem_task& task, const problem_counts& counts,
                          std::uint64_t seed);

}  // namespace troupe::llm

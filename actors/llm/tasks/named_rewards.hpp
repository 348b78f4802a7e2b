#pragma once
// Reward functions by name, for the option task.reward. Each gives 0 to 1:
//
//   exact            the answer is the expected text, without white space around both
//   numeric          the last number of the answer is the last one of the expected answer
//   contains         the expected text is in the answer as whole words, in any case
//   contains:FIELD   the share of the texts in a field of the line, a list, that are in the answer
//   length:MAX       the answer has at most MAX bytes
//   format:think     the answer begins with <think>...</think>, and text follows
//   format:json      the answer is JSON
//   format:A,B       the answer consists of <A>...</A> and <B>...</B>
//   pattern:REGEX    an RE2 expression matches the whole answer
//   tests            the share of the line's tests that the answer's code passes
//
// For exact, numeric, pattern and format:json the answer is what follows the last </think>, or the
// text between <answer> and </answer> there, if it has these. For exact and numeric it is what that
// text marks as its answer by \boxed{} or ####, if it does; the expected answer is read alike.

#include <string>
#include <string_view>

#include "actors/llm/tasks/problem.hpp"

namespace troupe::llm {

/// True for the name of a function in Python, python:MODULE:FUNCTION.
bool is_python_reward(std::string_view name);

/// Returns the reward function of this name. Throws std::invalid_argument for an unknown name and
/// for a wrong argument of it.
reward_function<answered_problem> named_reward(const std::string& name, double weight = 1);

/// True if the reward compares with the expected answer.
bool needs_answer(std::string_view name);
/// Says what the reward of this name did not understand in an answer, such as "numeric: no number
/// found"; empty if it understood it.
std::string note_of(std::string_view name, const std::string& answer);
/// True if the reward runs the code of the answer.
bool runs_code(std::string_view name);

}  // namespace troupe::llm

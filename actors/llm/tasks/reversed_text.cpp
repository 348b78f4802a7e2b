// The task "reversed_text": letters are to be written in reverse order.

#include <fmt/format.h>

#include <algorithm>

#include "actors/llm/tasks/problem.hpp"
#include "actors/reward/text_reward.hpp"

namespace troupe::llm {
namespace {

problem draw_reversed(action_random& random, int size) {
  std::string text;
  for (int i = 0; i < size; ++i) text += "abcdef"[random.below(6)];
  const std::string reversed(text.rbegin(), text.rend());
  return {.question = fmt::format("Write the letters {} in reverse order, and nothing else.", text),
          .letters = text + ">",
          .expected = reversed};
}

/// The share of right letters, by position, in the longer of the answer and the expected text.
double places_right(const answered_problem& a) {
  const auto& expected = a.asked.expected;
  const auto both = std::min(a.answer.size(), expected.size());
  double same = 0;
  for (std::size_t i = 0; i < both; ++i) same += a.answer[i] == expected[i];
  return same / static_cast<double>(std::max(a.answer.size(), expected.size()));
}

}  // namespace

problem_task reversed_text_task() {
  return {"reversed_text",
          "letters in reverse order",
          draw_reversed,
          {{"right",
            [](const answered_problem& a) { return exact_match(a.answer, a.asked.expected); }, 0.5},
           {"places", places_right, 0.5}},
          false,
          {.size = 4}};  // there are only 216 texts of three letters
}

}  // namespace troupe::llm

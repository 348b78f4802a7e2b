// The tasks "sum_digits" and "arithmetic".

#include <fmt/format.h>

#include "actors/llm/tasks/problem.hpp"
#include "actors/reward/text_reward.hpp"

namespace troupe::llm {
namespace {

/// A number with this many digits, whose first digit isn't 0.
std::int64_t draw_number(action_random& random, int digits) {
  std::uint64_t least = 1;
  for (int i = 1; i < digits; ++i) least *= 10;
  return static_cast<std::int64_t>(least + random.below(9 * least));
}

problem draw_sum_of_digits(action_random& random, int size) {
  const auto number = std::to_string(draw_number(random, size));
  int sum = 0;
  for (const char digit : number) sum += digit - '0';
  return {.question = fmt::format("What is the sum of the digits of {}? Answer with the number "
                                  "alone.",
                                  number),
          .letters = number + ">",
          .expected = std::to_string(sum)};
}

problem draw_arithmetic(action_random& random, int size) {
  const auto a = draw_number(random, size), b = draw_number(random, size);
  const auto which = random.below(3);
  const auto sign = "+-*"[which];
  const auto result = which == 0 ? a + b : which == 1 ? a - b : a * b;
  return {.question = fmt::format("What is {} {} {}? Answer with the number alone.", a, sign, b),
          .letters = fmt::format("{}{}{}=", a, sign, b),
          .expected = std::to_string(result)};
}

const reward_function<answered_problem> right{
    "right", [](const answered_problem& a) { return exact_match(a.answer, a.asked.expected); }};

}  // namespace

problem_task sum_digits_task() {
  // There are too few numbers of three digits to learn a rule that holds for others, too.
  return {.name = "sum_digits",
          .what = "the sum of a number's digits",
          .draw = draw_sum_of_digits,
          .rewards = {right},
          .counts = {.size = 4, .training = 7'500, .held_out = 1'500}};
}

problem_task arithmetic_task() {
  return {"arithmetic", "sums, differences and products", draw_arithmetic, {right}};
}

}  // namespace troupe::llm

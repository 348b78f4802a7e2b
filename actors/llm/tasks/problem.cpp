#include "actors/llm/tasks/problem.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "actors/llm/tasks/data_rows.hpp"

namespace troupe::llm {

const std::vector<problem_task>& problem_tasks() {
  static const std::vector<problem_task> tasks{sum_digits_task(), arithmetic_task(),
                                               reversed_text_task(), code_task()};
  return tasks;
}

std::vector<chat_message> conversation_of(const problem& asked) {
  if (!asked.messages.empty()) return asked.messages;
  return {{"user", asked.question}};
}

std::string prompt_key(const problem& asked) {
  return prompt_key(conversation_of(asked), asked.tools);
}

problem_set make_problems(const problem_task& task, const problem_counts& counts,
                          std::uint64_t seed) {
  const auto wanted = counts.training + counts.held_out;
  if (counts.size < 1 || counts.size > 9)
    throw problem_counts_error("size", fmt::format("expected 1 to 9, got {}", counts.size));
  for (const auto& [count, option] :
       {std::pair{counts.training, "training"}, {counts.held_out, "held_out"}}) {
    if (count < 1)
      throw problem_counts_error(option, fmt::format("expected at least 1, got {}", count));
  }
  if (!task.draw)
    throw std::invalid_argument(fmt::format(
        "task {}: draw: expected a function that makes a problem, got none", task.name));
  action_random random(seed);
  std::set<std::string> seen;
  problem_set made;
  // Repeated problems are drawn again, which takes many draws if nearly all have been drawn before.
  const std::int64_t draws_max = 1000 + 20 * wanted;
  for (std::int64_t draws = 0; std::int64_t(seen.size()) < wanted; ++draws) {
    if (draws == draws_max)
      throw problem_counts_error(
          "training",
          fmt::format("expected with held_out ({}) no more than {} has different problems of size "
                      "{}, about {}, got {}",
                      counts.held_out, task.name, counts.size, seen.size(), counts.training));
    auto drawn = task.draw(random, counts.size);
    if (!seen.insert(drawn.letters + '\n' + prompt_key(drawn)).second) continue;
    auto& list = std::int64_t(seen.size()) <= counts.held_out ? made.held_out : made.training;
    list.push_back(std::move(drawn));
  }
  return made;
}

}  // namespace troupe::llm

#include "actors/llm/tasks/problem.hpp"

#include <fmt/format.h>

#include <set>
#include <stdexcept>

#include "runtime/config/nearest_name.hpp"

namespace troupe::llm {

const std::vector<problem_task>& problem_tasks() {
  static const std::vector<problem_task> tasks{sum_digits_task(), arithmetic_task(),
                                               reversed_text_task(), code_task()};
  return tasks;
}

const problem_task& find_problem_task(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& task : problem_tasks()) {
    if (task.name == name) return task;
    names.push_back(task.name);
  }
  throw std::invalid_argument(unknown_name_message("task", name, names));
}

problem_set make_problems(const problem_task& task, const problem_counts& counts,
                          std::uint64_t seed) {
  const auto wanted = counts.training + counts.held_out;
  if (counts.size < 1 || counts.size > 9 || counts.training < 1 || counts.held_out < 1)
    throw std::invalid_argument(fmt::format(
        "make_problems: expected a size of 1 to 9 and problems to train on and to hold out, got "
        "{}, {} and {}",
        counts.size, counts.training, counts.held_out));
  action_random random(seed);
  std::set<std::string> seen;
  problem_set made;
  // Draws until the next new one; where nearly all have been drawn that takes as many as there are.
  const std::int64_t draws_max = 1000 + 20 * wanted;
  for (std::int64_t draws = 0; std::int64_t(seen.size()) < wanted; ++draws) {
    if (draws == draws_max)
      throw std::invalid_argument(
          fmt::format("make_problems: {}: expected as many as there are of size {}, about {}, got "
                      "training {} and held_out {}",
                      task.name, counts.size, seen.size(), counts.training, counts.held_out));
    auto drawn = task.draw(random, counts.size);
    if (!seen.insert(drawn.letters).second) continue;
    auto& list = std::int64_t(seen.size()) <= counts.held_out ? made.held_out : made.training;
    list.push_back(std::move(drawn));
  }
  return made;
}

}  // namespace troupe::llm

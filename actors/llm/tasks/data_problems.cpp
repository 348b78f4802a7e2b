#include "actors/llm/tasks/data_problems.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "actors/llm/tasks/named_rewards.hpp"
#include "runtime/config/json_text.hpp"

namespace troupe::llm {
namespace {

using nlohmann::json;

/// The tests of a line for the reward `tests`.
tested_function function_of(const json& line) {
  tested_function function;
  if (const auto name = line.find("function"); name != line.end() && name->is_string())
    function.name = *name;
  const auto tests = line.find("tests");
  if (function.name.empty() || tests == line.end() || !tests->is_array()) return {};
  for (const auto& test : *tests) {
    if (!test.is_object() || !test.contains("arguments") || !test["arguments"].is_array() ||
        !test.contains("expected"))
      throw std::invalid_argument(fmt::format(
          "tests: expected objects with the list \"arguments\" and \"expected\", got {}",
          detail::show(test)));
    function.tests.push_back({test["arguments"].dump(), test["expected"].dump()});
  }
  return function;
}

/// Numbers the levels of the problems. `values` has the field of each.
std::vector<std::string> number_levels(std::vector<problem>& problems,
                                       const std::vector<json>& values, const data_fields& fields) {
  const bool are_numbers = std::ranges::all_of(values, [](const json& v) { return v.is_number(); });
  std::vector<std::string> names = fields.levels;
  if (are_numbers && names.empty()) {
    std::set<double> all;
    for (const auto& value : values) all.insert(value.get<double>());
    for (const double each : all) names.push_back(fmt::format("{}", each));
    for (std::size_t i = 0; i < problems.size(); ++i)
      problems[i].level =
          static_cast<std::uint64_t>(std::distance(all.begin(), all.find(values[i].get<double>())));
    return names;
  }
  std::set<std::string> unknown;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const auto text = text_of(values[i], fields.level);
    const auto at = std::ranges::find(names, text);
    if (at == names.end()) {
      unknown.insert(text);
    } else {
      problems[i].level = static_cast<std::uint64_t>(at - names.begin());
    }
  }
  if (!unknown.empty())
    throw std::invalid_argument(fmt::format(
        "the levels in the field \"{}\": expected numbers, or texts that task.levels names from "
        "the easiest, got {}",
        fields.level, fmt::join(unknown, ", ")));
  return names;
}

}  // namespace

problem unanswered_problem(const row_view& row, const data_fields& fields) {
  problem made;
  auto asked = prompt_of_row(row, fields);
  made.question = asked.messages.back().content;
  for (const auto& each : asked.messages)
    made.letters += (made.letters.empty() ? "" : "\n") + each.content;
  if (!asked.is_text) made.messages = std::move(asked.messages);
  made.tools = std::move(asked.tools);
  return made;
}

problem problem_of_row(const row_view& row, const data_fields& fields) {
  auto made = unanswered_problem(row, fields);
  made.expected = answer_of_row(row, fields);
  made.function = function_of(row.object);
  made.columns = row.object.dump();
  return made;
}

data_problems read_data(const std::filesystem::path& path, const data_fields& fields,
                        const std::function<void(const problem&)>& check) {
  data_problems read;
  std::vector<json> levels;
  for_each_row(path, fields.python, [&](const json& row, std::string_view text) {
    auto made = problem_of_row({row, text}, fields);
    if (check) check(made);
    if (!fields.level.empty()) {
      const auto& level = field_of(row, fields.level);
      if (level.is_structured()) text_of(level, fields.level);
      levels.push_back(level);
    }
    read.problems.push_back(std::move(made));
  });
  if (fields.level.empty()) return read;
  try {
    read.levels = number_levels(read.problems, levels, fields);
  } catch (const std::invalid_argument& error) {
    throw data_error({path.string() + ": " + error.what()});
  }
  return read;
}

namespace {

std::vector<std::vector<std::size_t>> by_prompt(const std::vector<problem>& problems) {
  std::vector<std::string> keys;
  for (const auto& each : problems) keys.push_back(prompt_key(each));
  return rows_by_prompt(keys);
}

}  // namespace

std::int64_t different_prompts(const std::vector<problem>& problems) {
  return std::ssize(by_prompt(problems));
}

problem_task data_task(std::string name, std::shared_ptr<const data_problems> data,
                       std::shared_ptr<const data_problems> held_out) {
  const auto lines = std::ssize(data->problems);
  const auto kept =
      held_out ? std::ssize(held_out->problems) : usual_held_out(different_prompts(data->problems));
  return {.name = std::move(name),
          .what = "the lines of a file",
          .draw = {},
          .rewards = {named_reward("exact")},
          .counts = {.size = 1, .training = lines, .held_out = kept},
          .data = std::move(data),
          .held_out_data = std::move(held_out)};
}

problem_set divided(std::vector<problem> problems, std::int64_t held_out, std::uint64_t seed) {
  const auto prompts = by_prompt(problems);
  if (held_out < 0 || (held_out > 0 && held_out >= std::ssize(prompts)))
    throw problem_counts_error(
        "held_out",
        prompts.size() < 2
            ? fmt::format("expected 0, as the one prompt of the file is trained on, got {}",
                          held_out)
            : fmt::format("expected 0 to {}, fewer than the {} different prompts, got {}",
                          prompts.size() - 1, prompts.size(), held_out));
  std::vector<bool> is_held_out(problems.size());
  problem_set made;
  for (const auto prompt : draw_held_out(prompts.size(), held_out, seed)) {
    const auto& places = prompts[prompt];
    made.held_out.push_back(problems[places.front()]);
    for (const auto place : places) is_held_out[place] = true;
  }
  if (held_out == 0)
    for (const auto& places : prompts) made.held_out.push_back(problems[places.front()]);
  for (std::size_t i = 0; i < problems.size(); ++i)
    if (!is_held_out[i]) made.training.push_back(std::move(problems[i]));
  return made;
}

}  // namespace troupe::llm

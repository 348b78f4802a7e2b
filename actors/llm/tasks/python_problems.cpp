#include "actors/llm/tasks/python_problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "actors/llm/tasks/data_problems.hpp"
#include "actors/reward/text_reward.hpp"

namespace troupe::llm {
namespace {

using nlohmann::json;

std::string right_answer_of(const json& item) {
  for (const char* key : {"answer", "target"}) {
    const auto found = item.find(key);
    if (found == item.end() || found->is_null()) continue;
    if (found->is_string()) return found->get<std::string>();
    if (found->is_number()) return found->dump();
    // Other values are for rewards alone, such as a list of right answers.
    return {};
  }
  return {};
}

/// The messages of a prompt as JSON; empty if it is a text.
std::string conversation_of(const std::vector<chat_message>& messages) {
  if (messages.empty()) return {};
  json list = json::array();
  for (const auto& each : messages) {
    json message{{"role", each.role}, {"content", each.content}};
    if (!each.fields.empty()) message.update(json::parse(each.fields));
    list.push_back(std::move(message));
  }
  return list.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

problem problem_of(const json& item, std::string_view text) {
  const auto prompt = item.find("prompt");
  if (prompt == item.end())
    throw std::invalid_argument("expected the key \"prompt\", got " + item.dump().substr(0, 200));
  if (!prompt->is_array() &&
      (!prompt->is_string() || prompt->get_ref<const std::string&>().empty()))
    throw std::invalid_argument("prompt: expected a text or a list of messages, got " +
                                prompt->dump().substr(0, 200));
  auto made = unanswered_problem({item, text}, {});
  made.expected = right_answer_of(item);
  auto columns = item;
  columns.erase("prompt");
  made.columns = columns.dump();
  return made;
}

problem_task generator_task(std::string name, std::string function) {
  return {.name = std::move(name),
          .what = "the items of " + function,
          .rewards = {{"right",
                       [](const answered_problem& a) {
                         return exact_match(a.answer, a.asked.expected);
                       }}},
          .counts = {.size = 1, .training = 100, .held_out = 200},
          .generator = std::move(function)};
}

problem_set first_problems(python_dataset_options options, const problem_counts& counts) {
  if (counts.held_out < 1)
    throw problem_counts_error("held_out",
                               fmt::format("expected at least 1, got {}", counts.held_out));
  const auto function = options.function;
  options.epochs = 1;
  python_dataset<problem> items(std::move(options), [](const json& item, std::string_view text) {
    return std::optional(problem_of(item, text));
  });
  problem_set made;
  std::set<std::string> held_out;
  std::int64_t read = 0;
  // Repeated prompts are passed over, which takes many items if there are few different ones.
  const auto most = 1000 + 20 * (counts.held_out + counts.training);
  try {
    for (; read < most && std::ssize(made.training) < std::max<std::int64_t>(counts.training, 1);
         ++read) {
      auto next = items.next();
      if (std::ssize(made.held_out) < counts.held_out) {
        if (held_out.insert(prompt_key(next)).second) made.held_out.push_back(std::move(next));
      } else if (!held_out.contains(prompt_key(next))) {
        made.training.push_back(std::move(next));
      }
    }
  } catch (const dataset_exhausted&) {
    // The epoch has fewer items than were asked for.
  }
  if (made.training.empty())
    throw problem_counts_error(
        "held_out",
        fmt::format("expected fewer than the {} different prompts in {} items of {}, as "
                    "training needs others, got {}",
                    held_out.size(), read, function, counts.held_out));
  return made;
}

python_dataset<problem>::maker training_problems(const std::vector<problem>& held_out) {
  std::set<std::string> prompts;
  for (const auto& one : held_out) prompts.insert(prompt_key(one));
  return [prompts = std::move(prompts)](const json& item,
                                        std::string_view text) -> std::optional<problem> {
    auto made = problem_of(item, text);
    if (prompts.contains(prompt_key(made))) return std::nullopt;
    return made;
  };
}

judged_completion completion_of(const answered_problem& judged, std::string prompt, bool is_code) {
  auto columns = judged.asked.columns;
  if (columns.empty()) {
    json made{{"answer", judged.asked.expected}};
    if (is_code) made["tests_passed"] = judged.tests_passed;
    columns = made.dump(-1, ' ', false, json::error_handler_t::replace);
  }
  return {.prompt = std::move(prompt),
          .completion = judged.answer,
          .columns = std::move(columns),
          .conversation = conversation_of(judged.asked.messages)};
}

std::vector<std::string> columns_of(const std::vector<const problem*>& problems, bool is_code) {
  std::set<std::string> names;
  for (const auto* each : problems) {
    if (each->columns.empty()) {
      names.insert("answer");
      if (is_code) names.insert("tests_passed");
      continue;
    }
    const auto row = json::parse(each->columns);
    for (const auto& [name, value] : row.items()) names.insert(name);
  }
  return {names.begin(), names.end()};
}

}  // namespace troupe::llm

#include "actors/llm/tasks/data_problems.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "actors/data/jsonl.hpp"
#include "actors/data/shuffled_order.hpp"
#include "actors/llm/tasks/named_rewards.hpp"
#include "actors/random/derived_seed.hpp"
#include "runtime/config/json_text.hpp"

namespace troupe::llm {
namespace {

using nlohmann::json;

std::vector<std::string> keys_of(const json& line) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : line.items()) keys.push_back(key);
  return keys;
}

const json& field_of(const json& line, const std::string& name) {
  const auto found = line.find(name);
  if (found != line.end() && !found->is_null()) return *found;
  throw std::invalid_argument(fmt::format("expected the field \"{}\", got the fields {}", name,
                                          fmt::join(keys_of(line), ", ")));
}

std::string text_of(const json& value, const std::string& name) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  throw std::invalid_argument(
      fmt::format("{}: expected a text or a number, got {}", name, detail::show(value)));
}

/// Writes the fields of the line into a template.
std::string filled(const std::string& pattern, const json& line) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const bool doubled = i + 1 < pattern.size() && pattern[i + 1] == c;
    if ((c == '{' || c == '}') && doubled) {
      text += c;
      ++i;
    } else if (c == '{') {
      const auto end = pattern.find('}', i);
      if (end == pattern.npos)
        throw std::invalid_argument(
            fmt::format("the prompt's template: expected }} after {{, got \"{}\"", pattern));
      const auto name = pattern.substr(i + 1, end - i - 1);
      text += text_of(field_of(line, name), name);
      i = end;
    } else {
      text += c;
    }
  }
  return text;
}

std::vector<chat_message> messages_of(const json& list, const std::string& name) {
  std::vector<chat_message> messages;
  for (const auto& message : list) {
    if (!message.is_object() || !message.contains("role") || !message["role"].is_string() ||
        !message.contains("content") || !message["content"].is_string())
      throw std::invalid_argument(
          fmt::format("{}: expected messages with the texts \"role\" and \"content\", got {}", name,
                      detail::show(message)));
    messages.push_back({message["role"], message["content"]});
  }
  if (messages.empty() || messages.back().role != "user")
    throw std::invalid_argument(fmt::format("{}: expected a last message of the role user, got {}",
                                            name,
                                            messages.empty() ? "none" : messages.back().role));
  return messages;
}

void set_prompt(problem& to, const json& line, const std::string& prompt) {
  if (prompt.find('{') != prompt.npos) {
    to.question = filled(prompt, line);
  } else if (const auto& value = field_of(line, prompt); value.is_array()) {
    to.messages = messages_of(value, prompt);
    to.question = to.messages.back().content;
  } else {
    to.question = text_of(value, prompt);
  }
  if (to.question.find_first_not_of(" \t\r\n") == std::string::npos)
    throw std::invalid_argument(fmt::format("{}: expected a text, got an empty one", prompt));
}

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

std::string joined(const std::vector<std::string>& faults) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, faults.size()); ++i)
    text += (i > 0 ? "\n" : "") + faults[i];
  if (faults.size() > most)
    text += fmt::format("\nand {} more; `troupe check-data` lists all", faults.size() - most);
  return text;
}

}  // namespace

data_error::data_error(const std::vector<std::string>& faults)
    : std::invalid_argument(joined(faults)), faults_(faults) {}

problem problem_of_line(const json& line, const data_fields& fields) {
  problem made;
  set_prompt(made, line, fields.prompt);
  const auto answer = line.find(fields.answer);
  const bool is_there = answer != line.end() && !answer->is_null();
  if (is_there && !answer->is_structured()) made.expected = text_of(*answer, fields.answer);
  if (fields.needs_answer && made.expected.empty()) {
    if (is_there) text_of(*answer, fields.answer);
    throw std::invalid_argument(
        is_there ? fmt::format("{}: expected an answer, got an empty text", fields.answer)
                 : fmt::format("expected the field \"{}\", got the fields {}", fields.answer,
                               fmt::join(keys_of(line), ", ")));
  }
  made.letters = made.question;
  made.function = function_of(line);
  made.columns = line.dump();
  return made;
}

data_problems read_data(const std::filesystem::path& path, const data_fields& fields,
                        const std::function<void(const problem&)>& check) {
  if (path.extension() == ".parquet")
    throw data_error({path.string() +
                      ": expected JSON Lines, got Parquet, which this build can't read; write "
                      "lines in Python: pandas.read_parquet(FILE).to_json(\"train.jsonl\", "
                      "orient=\"records\", lines=True)"});
  data_problems read;
  std::vector<json> levels;
  std::vector<std::string> faults;
  const jsonl_options options{
      .on_bad_line = [&](const jsonl_error& error) { faults.emplace_back(error.what()); }};
  for_each_jsonl(
      path,
      [&](const json& line) {
        auto made = problem_of_line(line, fields);
        if (check) check(made);
        if (!fields.level.empty()) {
          const auto& level = field_of(line, fields.level);
          if (level.is_structured()) text_of(level, fields.level);
          levels.push_back(level);
        }
        read.problems.push_back(std::move(made));
      },
      options);
  if (faults.empty() && !fields.level.empty()) {
    try {
      read.levels = number_levels(read.problems, levels, fields);
    } catch (const std::invalid_argument& error) {
      faults.push_back(path.string() + ": " + error.what());
    }
  }
  if (!faults.empty()) throw data_error(faults);
  return read;
}

problem_task data_task(std::string name, std::shared_ptr<const data_problems> data,
                       std::shared_ptr<const data_problems> held_out) {
  const auto lines = std::ssize(data->problems);
  // At most 200, as for the other tasks, and a tenth of few.
  const auto kept =
      held_out ? std::ssize(held_out->problems) : std::clamp<std::int64_t>(lines / 10, 2, 200);
  return {.name = std::move(name),
          .what = "the lines of a file",
          .draw = {},
          .rewards = {named_reward("exact")},
          .counts = {.size = 1, .training = lines, .held_out = kept},
          .data = std::move(data),
          .held_out_data = std::move(held_out)};
}

problem_set divided(std::vector<problem> problems, std::int64_t held_out, std::uint64_t seed) {
  std::map<std::string, std::vector<std::size_t>> by_prompt;
  std::vector<std::string> prompts;  // in the order of the file
  for (std::size_t i = 0; i < problems.size(); ++i) {
    auto& places = by_prompt[problems[i].question];
    if (places.empty()) prompts.push_back(problems[i].question);
    places.push_back(i);
  }
  if (held_out < 1 || held_out >= std::ssize(prompts))
    throw problem_counts_error(
        "held_out", fmt::format("expected 1 to {}, fewer than the {} different prompts, got {}",
                                prompts.size() - 1, prompts.size(), held_out));
  troupe::detail::shuffled_order order(prompts.size(), true, derived_seed(seed, "held out"));
  std::vector<bool> is_held_out(problems.size());
  problem_set made;
  for (std::int64_t i = 0; i < held_out; ++i) {
    const auto& places = by_prompt[prompts[order.next()]];
    made.held_out.push_back(problems[places.front()]);
    for (const auto place : places) is_held_out[place] = true;
  }
  for (std::size_t i = 0; i < problems.size(); ++i)
    if (!is_held_out[i]) made.training.push_back(std::move(problems[i]));
  return made;
}

}  // namespace troupe::llm

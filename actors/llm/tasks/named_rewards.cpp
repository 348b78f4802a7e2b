#include "actors/llm/tasks/named_rewards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "actors/reward/text_reward.hpp"

namespace troupe::llm {
namespace {

using nlohmann::json;

/// The answer without the thoughts before it, and without the tags <answer> around it.
std::string_view final_answer(std::string_view text) {
  text = after_thoughts(text);
  return inside_tag(text, "answer").value_or(text);
}

/// The answer as the rewards exact and numeric compare it: what it marks as such, if it does.
std::string_view compared(std::string_view text) { return marked_answer(final_answer(text)); }

double exact(const answered_problem& a) {
  return exact_match(compared(a.answer), compared(a.asked.expected));
}
double numeric(const answered_problem& a) {
  return numeric_match(compared(a.answer), compared(a.asked.expected));
}
double contains(const answered_problem& a) {
  return contains_words(a.answer, a.asked.expected) ? 1 : 0;
}
double tests(const answered_problem& a) { return a.tests_passed; }
double is_json(const answered_problem& a) { return json::accept(final_answer(a.answer)) ? 1 : 0; }
double thinks(const answered_problem& a) {
  const std::string_view text = a.answer;
  constexpr std::string_view begin = "<think>", end = "</think>";
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos || !text.substr(first).starts_with(begin)) return 0;
  const auto close = text.find(end);
  if (close == text.npos || text.find(end, close + 1) != text.npos) return 0;
  return text.find_first_not_of(" \t\r\n", close + end.size()) == text.npos ? 0 : 1;
}

/// The share of a list of texts that are in the answer.
double keywords(const answered_problem& a, const std::string& field) {
  const auto line = json::parse(a.asked.columns.empty() ? "{}" : a.asked.columns);
  const auto found = line.find(field);
  if (found == line.end() || !found->is_array() || found->empty())
    throw std::invalid_argument(
        fmt::format("expected a list of texts in the field \"{}\" of the line", field));
  double contained = 0;
  for (const auto& each : *found) contained += contains_words(a.answer, each.get<std::string>());
  return contained / static_cast<double>(found->size());
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::int64_t length_of(const std::string& argument) {
  std::int64_t most = 0;
  const auto [end, error] =
      std::from_chars(argument.data(), argument.data() + argument.size(), most);
  if (error != std::errc() || end != argument.data() + argument.size() || most < 1)
    throw std::invalid_argument(
        fmt::format("reward length: expected a number of bytes >= 1, got \"{}\"", argument));
  return most;
}

std::function<double(const answered_problem&)> format_reward(const std::string& argument) {
  if (argument == "think") return thinks;
  if (argument == "json") return is_json;
  auto tags = parts_of(argument, ',');
  if (std::ranges::any_of(tags, &std::string::empty))
    throw std::invalid_argument("reward format: expected think, json or the names of tags, got \"" +
                                argument + '"');
  return [tags = std::move(tags)](const answered_problem& a) { return tag_format(a.answer, tags); };
}

std::function<double(const answered_problem&)> function_of(const std::string& kind,
                                                           const std::string& argument) {
  if (kind == "contains")
    return [argument](const answered_problem& a) { return keywords(a, argument); };
  if (kind == "length")
    return [most = length_of(argument)](const answered_problem& a) {
      return std::ssize(a.answer) <= most ? 1.0 : 0.0;
    };
  if (kind == "format") return format_reward(argument);
  if (kind == "pattern")
    return [match = pattern_match(argument)](const answered_problem& a) {
      return match(final_answer(a.answer));
    };
  return nullptr;
}

}  // namespace

bool is_python_reward(std::string_view name) { return name.starts_with("python:"); }

bool needs_answer(std::string_view name) {
  return name == "exact" || name == "numeric" || name == "contains";
}

bool runs_code(std::string_view name) { return name == "tests"; }

std::string note_of(std::string_view name, const std::string& answer) {
  const auto text = compared(answer);
  const bool is_marked = text.size() < final_answer(answer).size();
  if (name == "numeric" && !last_number(text))
    return is_marked ? "numeric: no number in the marked answer" : "numeric: no number found";
  if (name == "format:json" && !json::accept(final_answer(answer))) return "format:json: no JSON";
  return {};
}

reward_function<answered_problem> named_reward(const std::string& name, double weight) {
  if (name == "exact") return {name, exact, weight};
  if (name == "numeric") return {name, numeric, weight};
  if (name == "contains") return {name, contains, weight};
  if (name == "tests") return {name, tests, weight};
  const auto colon = name.find(':');
  if (colon != name.npos && colon + 1 < name.size()) {
    if (auto value = function_of(name.substr(0, colon), name.substr(colon + 1)))
      return {name.substr(0, 64), std::move(value), weight};
  }
  throw std::invalid_argument(fmt::format(
      "expected exact, numeric, contains, contains:FIELD, length:MAX, format:think, format:json, "
      "format:TAG,TAG, pattern:REGEX, tests or python:MODULE:FUNCTION, got \"{}\"",
      name));
}

}  // namespace troupe::llm

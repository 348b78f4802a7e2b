#include "actors/python/python_reward.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "actors/python/python_environment.hpp"
#include "runtime/base/error.hpp"

namespace troupe {
namespace {

using nlohmann::json;

/// The columns of a batch: for each key a list with a value for each completion.
json columns_of(const std::vector<json>& objects) {
  json columns = json::object();
  for (std::size_t i = 0; i < objects.size(); ++i) {
    for (const auto& [key, value] : objects[i].items()) {
      auto& column = columns[key];
      if (column.is_null()) column = std::vector<json>(objects.size());
      column[i] = value;
    }
  }
  return columns;
}

/// The values of each function, NaN for None.
std::vector<std::vector<double>> values_of(const json& answer) {
  std::vector<std::vector<double>> values;
  for (const auto& function : answer.at("values")) {
    auto& numbers = values.emplace_back();
    for (const auto& value : function)
      numbers.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                        : value.get<double>());
  }
  return values;
}

json parse_columns(const std::string& text) {
  auto columns = json::parse(text, nullptr, false);
  if (!columns.is_object())
    throw std::invalid_argument("columns: expected a JSON object, got \"" + text.substr(0, 80) +
                                '"');
  return columns;
}

}  // namespace

python_reward::python_reward(python_reward_options options, metrics_registry* metrics)
    : options_(std::move(options)), meter_(metrics, options_.functions) {
  auto& weights = options_.weights;
  const auto count = options_.functions.size();
  if (weights.empty()) weights.assign(count, 1.0);
  if (weights.size() != count)
    throw std::invalid_argument(fmt::format(
        "reward: expected a weight for each of the {} functions, got {}", count, weights.size()));
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(weights[i]))
      throw std::invalid_argument(fmt::format("reward \"{}\": expected a finite weight, got {}",
                                              options_.functions[i], weights[i]));
  }
  worker_ = std::make_unique<python_worker>(options_.python, "reward");
  worker_->call({{"do", "load_rewards"}, {"names", options_.functions}},
                options_.python.start_timeout,
                fmt::format("the import of {}", fmt::join(options_.functions, ", ")));
}

python_reward::~python_reward() = default;

reward_result python_reward::result_of(std::size_t item,
                                       const std::vector<std::vector<double>>& values) const {
  reward_result result;
  bool applies = false;
  for (std::size_t f = 0; f < values.size(); ++f) {
    const double value = values[f][item];
    result.values.push_back(value);
    if (std::isnan(value)) continue;
    applies = true;
    result.total += options_.weights[f] * value;
    meter_.evaluated(f, value);
  }
  const auto all = fmt::format("{}", fmt::join(names(), ", "));
  if (!applies) throw reward_error(all, "expected a number for the completion, got None alone");
  if (!std::isfinite(result.total))
    throw reward_error("total", fmt::format("expected a finite sum, got {}", result.total));
  meter_.summed(result.total);
  return result;
}

/// Calls the functions. Throws fatal if the process is lost.
json python_reward::score(const json& command) {
  try {
    return worker_->call(command, options_.timeout,
                         fmt::format("{} for {} completions", fmt::join(names(), ", "),
                                     command.at("completions").size()));
  } catch (const python_ended& ended) {
    throw fatal(ended.what());
  }
}

batch<reward_result> python_reward::evaluate(batch<judged_completion> completions) {
  const auto count = completions.size();
  std::vector<std::exception_ptr> refused(count);
  std::vector<std::string> prompts, texts;
  std::vector<json> columns;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < count; ++i) {
    auto& one = completions[i];
    try {
      columns.push_back(parse_columns(one.columns));
    } catch (const std::invalid_argument&) {
      refused[i] = std::current_exception();
      continue;
    }
    prompts.push_back(std::move(one.prompt));
    texts.push_back(std::move(one.completion));
    asked.push_back(i);
  }
  std::vector<std::optional<reward_result>> results(count);
  if (!asked.empty()) {
    const auto answer = score({{"do", "score"},
                               {"prompts", std::move(prompts)},
                               {"completions", std::move(texts)},
                               {"columns", columns_of(columns)}});
    if (answer.contains("failed")) fail(answer, asked.size());
    for (const auto& [place, error] : errors_of(answer)) refused[asked.at(place)] = error;
    const auto values = values_of(answer);
    for (std::size_t place = 0; place < asked.size(); ++place) {
      auto& error = refused[asked[place]];
      if (error) continue;
      try {
        results[asked[place]] = result_of(place, values);
      } catch (const reward_error&) {
        error = std::current_exception();
      }
    }
  }
  batch<reward_result> answers;
  for (std::size_t i = 0; i < count; ++i) {
    if (refused[i]) {
      answers.push_error(refused[i]);
    } else {
      answers.push_back(*std::move(results[i]));
    }
  }
  return answers;
}

void python_reward::fail(const json& answer, std::size_t completions) const {
  const auto which = answer.at("failed").get<std::size_t>();
  for (std::size_t i = 0; i < completions; ++i) meter_.failed(which);
  throw reward_error(names().at(which), answer.at("why").get<std::string>());
}

std::map<std::size_t, std::exception_ptr> python_reward::errors_of(const json& answer) const {
  std::map<std::size_t, std::exception_ptr> errors;
  for (const auto& error : answer.at("errors")) {
    const auto which = error.at(1).get<std::size_t>();
    meter_.failed(which);
    reward_error told(names().at(which), error.at(2).get<std::string>());
    errors.try_emplace(error.at(0).get<std::size_t>(), std::make_exception_ptr(std::move(told)));
  }
  return errors;
}

std::string python_function_of(std::string_view text) {
  constexpr std::string_view before = "python:";
  const auto name = text.substr(std::min(before.size(), text.size()));
  if (!text.starts_with(before) || name.starts_with("gymnasium:") ||
      name.starts_with("pettingzoo:") || !names_python(name))
    throw std::invalid_argument(
        fmt::format("expected python:MODULE:FUNCTION, got \"{}\"", text.substr(0, 80)));
  return std::string(name);
}

}  // namespace troupe

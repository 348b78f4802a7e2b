#include "actors/python/python_reward.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "actors/python/python_environment.hpp"
#include "runtime/base/error.hpp"
#include "runtime/service/stop_token.hpp"

namespace troupe {

using nlohmann::json;

/// A completion of a batch, as the functions get it, and what they say.
struct python_reward::item {
  json prompt, columns;
  judged_completion of;
  std::size_t key = 0;  ///< It tells the completion from others, for `given_up`.
  std::vector<double> values = {};
  std::exception_ptr refused = {};
};

/// What a function has answered for some completions.
struct python_reward::answer {
  enum class kind {
    judged,
    refused,  ///< no list of as many values
    threw,
    late,
    lost,  ///< the process has ended
  };
  kind is = kind::judged;
  json values = {}, errors = {};
  std::string why = {};
  double seconds = 0;
};

namespace {

constexpr std::size_t given_up_max = 10'000;
// A function that ends each process would else cost a start for each answer.
constexpr int losses_max = 64;
// More than one fault in so many completions makes halving dearer than a call for each.
constexpr std::size_t many_faults = 16;

/// The columns of a batch: for each key a list with a value for each completion.
json columns_of(const std::vector<const json*>& objects) {
  json columns = json::object();
  for (std::size_t i = 0; i < objects.size(); ++i) {
    for (const auto& [key, value] : objects[i]->items()) {
      auto& column = columns[key];
      if (column.is_null()) column = std::vector<json>(objects.size());
      column[i] = value;
    }
  }
  return columns;
}

json parse_columns(const std::string& text) {
  auto columns = json::parse(text, nullptr, false);
  if (!columns.is_object())
    throw std::invalid_argument("columns: expected a JSON object, got \"" + text.substr(0, 80) +
                                '"');
  return columns;
}

/// The prompt as the functions get it: a text, or a list of messages.
json prompt_of(const judged_completion& one) {
  if (one.conversation.empty()) return one.prompt;
  auto messages = json::parse(one.conversation, nullptr, false);
  if (!messages.is_array())
    throw std::invalid_argument("conversation: expected a JSON list, got \"" +
                                one.conversation.substr(0, 80) + '"');
  return messages;
}

/// A number that tells a completion from others.
std::size_t key_of(const judged_completion& one) {
  std::string all;
  for (const auto* part : {&one.prompt, &one.conversation, &one.completion, &one.columns})
    all += fmt::format("{}:{}", part->size(), *part);
  return std::hash<std::string>()(all);
}

/// The progress of a run that a batch is of.
json state_of_batch(const std::vector<const judged_completion*>& all) {
  const auto* newest = *std::ranges::max_element(all, {}, &judged_completion::global_step);
  json state{{"global_step", newest->global_step}, {"max_steps", newest->max_steps}};
  state["epoch"] = newest->epoch ? json(*newest->epoch) : json();
  return state;
}

}  // namespace

std::size_t python_reward::key_for(std::size_t which, const item& one) {
  return one.key + which * 0x9e3779b97f4a7c15;
}

void python_reward::given_up::add(std::size_t key) {
  if (!keys_.insert(key).second) return;
  order_.push_back(key);
  if (order_.size() <= given_up_max) return;
  keys_.erase(order_.front());
  order_.pop_front();
}

python_reward::python_reward(python_reward_options options, metrics_registry* metrics)
    : options_(std::move(options)),
      meter_(metrics, options_.functions),
      most_at_once_(options_.functions.size(), std::numeric_limits<std::size_t>::max()) {
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
  start();
}

python_reward::~python_reward() = default;

/// Starts a process, in place of one that has ended.
void python_reward::start() {
  worker_ = std::make_unique<python_worker>(options_.python, "reward");
  json command{{"do", "load_rewards"},
               {"names", options_.functions},
               {"columns", nullptr},
               {"give_up_signal", python_worker::give_up_signal()}};
  if (options_.columns) command["columns"] = *options_.columns;
  worker_->call(command, {options_.python.start_timeout, "python.start_timeout"},
                fmt::format("the import of {}", fmt::join(options_.functions, ", ")));
}

reward_result python_reward::result_of(const item& judged) const {
  reward_result result;
  bool applies = false;
  for (std::size_t f = 0; f < judged.values.size(); ++f) {
    const double value = judged.values[f];
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

/// Has a function judge some completions at once. Replaces a process that is lost.
python_reward::answer python_reward::ask(std::size_t which, std::span<item* const> part) {
  using kind = answer::kind;
  if (losses_in_a_row_ >= losses_max)
    return {.is = kind::refused,
            .why = fmt::format("its process has ended {} times in a row", losses_max)};
  std::vector<const json*> columns;
  std::vector<const judged_completion*> all;
  json command{{"do", "score"}, {"which", which}};
  for (const auto* one : part) {
    command["prompts"].push_back(one->prompt);
    command["completions"].push_back(one->of.completion);
    command["completion_ids"].push_back(one->of.completion_ids);
    columns.push_back(&one->columns);
    all.push_back(&one->of);
  }
  command["columns"] = columns_of(columns);
  command["state"] = state_of_batch(all);
  const auto action = fmt::format("{} for {} completions", names().at(which), part.size());
  const call_limit limit{options_.timeout, "python.reward_timeout"};
  const auto began = std::chrono::steady_clock::now();
  json told;
  try {
    told = worker_->call_or_give_up(command, limit, action);
  } catch (const python_ended& ended) {
    if (system_stop_token().stop_requested()) throw fatal(ended.what());
    ++losses_in_a_row_;
    try {
      start();
    } catch (const std::exception& error) {
      throw fatal(fmt::format("{}, and could not be replaced: {}", ended.what(), error.what()));
    }
    return {.is = ended.was_late ? kind::late : kind::lost, .why = ended.what()};
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
  if (told.contains("late"))
    return {.is = kind::late,
            .why = fmt::format("it took longer than {} for an answer", limit.text())};
  if (told.contains("threw")) return {.is = kind::threw, .why = told["threw"]};
  if (told.contains("refused")) return {.is = kind::refused, .why = told["refused"]};
  losses_in_a_row_ = 0;
  return {.values = std::move(told.at("values")),
          .errors = std::move(told.at("errors")),
          .seconds = taken.count()};
}

void python_reward::refuse(std::size_t which, item& one, const std::string& why) const {
  meter_.failed(which);
  one.refused = std::make_exception_ptr(reward_error(names().at(which), why));
}

/// Keeps the values that a function has answered.
void python_reward::take(std::size_t which, std::span<item* const> part, const answer& from) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    const auto& value = from.values.at(i);
    part[i]->values.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                              : value.get<double>());
  }
  for (const auto& error : from.errors)
    refuse(which, *part[error.at(0).get<std::size_t>()], error.at(1).get<std::string>());
}

/// Gives completions what the function has answered. Returns false if one of several is at fault,
/// which is not known.
bool python_reward::settle(std::size_t which, std::span<item* const> part, const answer& found) {
  using kind = answer::kind;
  if (found.is == kind::judged) {
    take(which, part, found);
  } else if (found.is == kind::refused) {
    for (auto* one : part) refuse(which, *one, found.why);
  } else if (part.size() > 1) {
    return false;
  } else {
    refuse(which, *part.front(), found.why);
    if (found.is != kind::threw) given_up_.add(key_for(which, *part.front()));
  }
  return true;
}

/// Refuses and takes out the completions that are known to be late or to end the process.
void python_reward::refuse_given_up(std::size_t which, std::vector<item*>& items,
                                    std::size_t from) {
  const auto first = items.begin() + static_cast<std::ptrdiff_t>(from);
  const auto is_known = [&](item* one) {
    if (!given_up_.contains(key_for(which, *one))) return false;
    refuse(which, *one, "the same answer was late before, or ended the process");
    return true;
  };
  items.erase(std::remove_if(first, items.end(), is_known), items.end());
}

/// Has a function judge completions, as many at once as it can. A part for which it throws is
/// halved, and the next one is larger again. Where many completions are at fault, each is judged
/// alone, which takes fewer calls than halving.
void python_reward::judge(std::size_t which, std::vector<item*> items) {
  auto& most = most_at_once_[which];
  std::size_t at = 0, size = items.size(), faults = 0;
  for (;;) {
    refuse_given_up(which, items, at);
    if (at == items.size()) return;
    const auto count = std::min({size, items.size() - at, most});
    const auto part = std::span<item* const>(items).subspan(at, count);
    const auto found = ask(which, part);
    if (!settle(which, part, found)) {
      if (found.is == answer::kind::threw) {
        size = count / 2;
        continue;
      }
      judge_alone(which, part);
    }
    if (count == most && found.is == answer::kind::judged && found.seconds < options_.timeout / 4)
      most *= 2;
    if (count == 1 && found.is != answer::kind::judged) ++faults;
    at += count;
    size = faults * many_faults > at ? 1 : 2 * count;
  }
}

/// Has a function judge each of these completions alone. It was late for them together, or has
/// ended the process: a hang and a start take so long that halving would cost more.
void python_reward::judge_alone(std::size_t which, std::span<item* const> part) {
  double seconds = 0;
  bool all_judged = true;
  for (const auto& one : part) {
    std::vector<item*> asked{one};
    refuse_given_up(which, asked, 0);
    all_judged = all_judged && !asked.empty();
    if (asked.empty()) continue;
    const auto found = ask(which, {&one, 1});
    settle(which, {&one, 1}, found);
    seconds += found.seconds;
    all_judged = all_judged && found.is == answer::kind::judged;
  }
  if (!all_judged) return;
  // No completion was at fault, so there were too many for the time.
  const double each = seconds / static_cast<double>(part.size());
  const double most = options_.timeout / 2 / std::max(each, 1e-6);
  const auto limit = static_cast<double>(part.size()) / 2;
  most_at_once_[which] = static_cast<std::size_t>(std::max(1.0, std::min(most, limit)));
}

batch<reward_result> python_reward::evaluate(batch<judged_completion> completions) {
  losses_in_a_row_ = 0;
  std::vector<item> items;
  for (std::size_t i = 0; i < completions.size(); ++i) {
    auto& one = items.emplace_back();
    one.of = std::move(completions[i]);
    one.key = key_of(one.of);
    try {
      one.columns = parse_columns(one.of.columns);
      one.prompt = prompt_of(one.of);
    } catch (const std::invalid_argument&) {
      one.refused = std::current_exception();
    }
  }
  for (std::size_t which = 0; which < names().size(); ++which) {
    std::vector<item*> asked;
    for (auto& one : items)
      if (!one.refused) asked.push_back(&one);
    judge(which, std::move(asked));
  }
  batch<reward_result> answers;
  for (const auto& one : items) {
    try {
      if (one.refused) std::rethrow_exception(one.refused);
      answers.push_back(result_of(one));
    } catch (const std::exception&) {
      answers.push_error(std::current_exception());
    }
  }
  return answers;
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

#include "algorithms/language_models/grpo/grpo_algorithm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "actors/recorder/score_text.hpp"
#include "algorithms/language_models/grpo/grpo_evaluation.hpp"
#include "runtime/config/nearest_name.hpp"

namespace troupe {

namespace {

std::string help_of(const grpo_task& task) {
  return task.game() ? task.game()->what : task.problems()->what;
}

std::vector<named_task> all_tasks(const std::vector<grpo_task>& own) {
  std::vector<named_task> all;
  for (const auto& name : known_task_names()) all.push_back({name, help_of(find_task(name))});
  for (const auto& task : own) {
    const auto& name = task.name();
    if (name.empty()) throw std::invalid_argument("task: expected a name, got \"\"");
    if (std::ranges::count(all, name, &named_task::name) > 0)
      throw std::invalid_argument(
          fmt::format("task: expected a new name, got \"{}\", which is taken", name));
    all.push_back({name, help_of(task)});
  }
  return all;
}

/// The task that a configuration names, and whether it is the program's own. Throws config_error
/// that lists all names and suggests the nearest one.
std::pair<grpo_task, bool> chosen(const std::string& name, const std::vector<grpo_task>& own) {
  const auto found = std::ranges::find(own, name, &grpo_task::name);
  if (found != own.end()) return {*found, true};
  auto known = known_task_names();
  if (own.empty() || std::ranges::count(known, name) > 0) return {find_task(name), false};
  for (const auto& task : own) known.push_back(task.name());
  throw config_error("/task/name", unknown_name_message("task", name, known));
}

model_evaluation judged(const grpo_task& task, const grpo_config& config, evaluation seen) {
  const auto count = seen.returns.size();
  if (task.game()) {
    const auto won = std::ranges::count_if(seen.returns, [](double each) { return each > 0; });
    const auto share = 100.0 * static_cast<double>(won) / static_cast<double>(count);
    auto verdict = fmt::format("{:.1f} % won of {} games, mean reward {}", share, count,
                               score_text(seen.mean));
    return {std::move(seen), std::move(verdict)};
  }
  if (!config.reward.empty()) {
    auto verdict =
        fmt::format("mean reward {} over {} held-out problems", score_text(seen.mean), count);
    return {std::move(seen), std::move(verdict)};
  }
  auto verdict = fmt::format("{:.1f} % right of {} held-out problems", 100 * seen.mean, count);
  return {std::move(seen), std::move(verdict)};
}

}  // namespace

named_algorithm grpo_algorithm(const std::vector<grpo_task>& own) {
  grpo_config defaults;
  if (own.size() == 1) defaults.task.name = own.front().name();
  auto grpo = algorithm_of<grpo_config>(
      "grpo", "language models on rewards: GRPO, Dr.GRPO, DAPO, GSPO, CISPO, RLOO", defaults);
  defaults.algo = grpo.name;
  grpo.tasks = all_tasks(own);
  grpo.configure = [defaults, own](const nlohmann::json& document, const run_permissions& may) {
    const auto config = read_named_config(document, may, defaults);
    const auto [task, is_own] = chosen(config.task.name, own);
    return is_own ? algorithm_with(config, task) : algorithm_with(config);
  };
  grpo.evaluate = [defaults, own](const nlohmann::json& document, const run_permissions& may,
                                  const std::filesystem::path& model, std::size_t problems) {
    const auto config = read_named_config(document, may, defaults);
    const auto task = chosen(config.task.name, own).first;
    const auto at_the_end = static_cast<std::size_t>(config.evaluation.final_problems);
    return judged(task, config,
                  evaluate_model(config, task, model, problems > 0 ? problems : at_the_end));
  };
  // One function needs no list.
  grpo.complete = [](nlohmann::json& document) {
    if (!document.is_object() || !document.contains("reward")) return;
    auto& reward = document["reward"];
    if (reward.is_string()) reward = nlohmann::json::array({reward});
  };
  return grpo;
}

}  // namespace troupe

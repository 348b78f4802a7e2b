#include "algorithms/language_models/grpo/grpo_algorithm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "actors/recorder/score_text.hpp"
#include "algorithms/language_models/grpo/grpo_evaluation.hpp"
#include "runtime/config/nearest_name.hpp"

namespace troupe {

namespace {

std::vector<named_task> all_tasks(const std::vector<grpo_task>& own) {
  std::vector<named_task> all;
  for (const auto& name : known_task_names()) all.push_back({name, find_task(name).what()});
  for (const auto& task : own) {
    const auto& name = task.name();
    if (name.empty()) throw std::invalid_argument("task: expected a name, got \"\"");
    if (std::ranges::count(all, name, &named_task::name) > 0)
      throw std::invalid_argument(
          fmt::format("task: expected a new name, got \"{}\", which is taken", name));
    all.push_back({name, task.what()});
  }
  return all;
}

/// The task of the program's own that a configuration names; null if it names another. Throws
/// config_error that lists all names and suggests the nearest one.
const grpo_task* own_task_of(const grpo_config& config, const std::vector<grpo_task>& own) {
  const auto& section = config.task;
  if (!config.tasks.empty() || !section.data.empty() || !section.world.empty()) return nullptr;
  const auto name = section.label();
  const auto found = std::ranges::find(own, name, &grpo_task::name);
  if (found != own.end()) return &*found;
  auto known = known_task_names();
  if (own.empty() || names_generator(name) || std::ranges::count(known, name) > 0) return nullptr;
  for (const auto& task : own) known.push_back(task.name());
  throw config_error("/task/name", unknown_name_message("task", name, known));
}

model_evaluation judged(const std::vector<grpo_part>& parts, evaluation seen) {
  const auto count = seen.returns.size();
  const auto is_played = [](const grpo_part& part) { return part.task.is_played(); };
  const auto has_right = [](const grpo_part& part) {
    return !part.task.is_played() && !rewards_of(part).empty();
  };
  if (std::ranges::all_of(parts, is_played)) {
    const auto won = std::ranges::count_if(seen.returns, [](double each) { return each > 0; });
    const auto share = 100.0 * static_cast<double>(won) / static_cast<double>(count);
    auto verdict = fmt::format("{:.1f} % won of {} games, mean reward {}", share, count,
                               score_text(seen.mean));
    return {std::move(seen), std::move(verdict)};
  }
  const auto judges_training = [](const grpo_part& part) {
    return detail::judges_training(part.task, part.config);
  };
  const auto* const of =
      std::ranges::all_of(parts, judges_training) ? "training problems" : "held-out problems";
  if (!std::ranges::all_of(parts, has_right)) {
    auto verdict = fmt::format("mean reward {} over {} {}", score_text(seen.mean), count, of);
    return {std::move(seen), std::move(verdict)};
  }
  auto verdict = fmt::format("{:.1f} % right of {} {}", 100 * seen.mean, count, of);
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
    const auto* task = own_task_of(config, own);
    return task ? algorithm_with(config, *task) : algorithm_with(config);
  };
  grpo.evaluate = [defaults, own](const nlohmann::json& document, const run_permissions& may,
                                  const std::filesystem::path& model, std::size_t problems) {
    const auto config = read_named_config(document, may, defaults);
    const auto* task = own_task_of(config, own);
    const auto parts = task ? std::vector{part_of(config, *task)} : parts_of(config);
    if (problems == 0)
      problems = static_cast<std::size_t>(config.evaluation.final_problems.value_or(100));
    return judged(parts, task ? evaluate_model(config, *task, model, problems)
                              : evaluate_model(config, model, problems));
  };
  // One function needs no list.
  grpo.complete = [](nlohmann::json& document) {
    const auto make_list = [](nlohmann::json& section) {
      if (!section.is_object() || !section.contains("reward")) return;
      auto& reward = section["reward"];
      if (reward.is_string()) reward = nlohmann::json::array({reward});
    };
    make_list(document);
    if (!document.is_object()) return;
    if (document.contains("task")) make_list(document["task"]);
    if (document.contains("tasks") && document["tasks"].is_array())
      for (auto& task : document["tasks"]) make_list(task);
  };
  return grpo;
}

}  // namespace troupe

#include "algorithms/language_models/grpo/grpo_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "actors/llm/tasks/letters_model.hpp"
#include "actors/llm/tasks/python_problems.hpp"
#include "algorithms/language_models/grpo/grpo_episode.hpp"
#include "algorithms/language_models/grpo/prompt_format.hpp"
#include "runtime/config/nearest_name.hpp"

namespace troupe {

const std::string& grpo_task::name() const {
  return std::visit([](const auto& kind) -> const std::string& { return kind.name; }, kind_);
}

std::vector<std::string> known_task_names() {
  std::vector<std::string> names;
  for (const auto& task : llm::problem_tasks()) names.push_back(task.name);
  for (const auto& game : openenv::text_games()) names.push_back(game.name);
  return names;
}

bool names_generator(const std::string& name) { return name.starts_with("python:"); }

namespace {

grpo_task generated_task(const std::string& name) {
  try {
    return llm::generator_task(name, python_function_of(name));
  } catch (const std::invalid_argument& e) {
    throw config_error("/task/name", e.what());
  }
}

}  // namespace

grpo_task find_task(const std::string& name) {
  if (names_generator(name)) return generated_task(name);
  if (const auto* game = openenv::find_text_game(name)) return *game;
  const auto& tasks = llm::problem_tasks();
  const auto found = std::ranges::find(tasks, name, &llm::problem_task::name);
  if (found != tasks.end()) return *found;
  throw config_error("/task/name",
                     unknown_name_message("task", name, known_task_names()) +
                         ". A task of a program's own is trained, resumed and evaluated by that "
                         "program");
}

algorithm algorithm_with(const grpo_config& config) {
  return detail::grpo_algorithm_with(config, find_task(config.task.name));
}

algorithm algorithm_with(grpo_config config, const grpo_task& task) {
  config.task.name = task.name();
  if (task.name().empty())
    throw config_error("/task/name", "expected a name of the program's own task, got \"\"");
  if (std::ranges::count(known_task_names(), task.name()) > 0 || names_generator(task.name()))
    throw config_error("/task/name",
                       fmt::format("expected a name that no task of Troupe's has, as `troupe eval` "
                                   "would take that one for the program's own, got \"{}\"",
                                   task.name()));
  return detail::grpo_algorithm_with(config, task);
}

namespace {

llm::problem_set hands_of(const openenv::text_game& game, const grpo_config& config) {
  action_random random(config.seed);
  llm::problem_set made;
  if (!game.view.practise) return {.training = {{}}, .held_out = {{}}};
  while (made.training.size() < 100) {
    const auto first = game.view.practise(random).front();
    auto& one = made.training.emplace_back(opening_of(game.view.rules, first.shown));
    one.expected = first.said.words;
  }
  made.held_out.push_back(made.training.front());  // deals are held out by their seeds
  return made;
}

/// True if right answers to training problems are shown to the model.
bool shows_answers(const grpo_config& config) {
  return config.warm_start.batches > 0 || config.task.shots > 0;
}

}  // namespace

llm::problem_counts counts_of(const grpo_task& task, const grpo_config& config) {
  auto counts = task.problems() ? task.problems()->counts : llm::problem_counts{};
  const auto& asked = config.task.problems;
  counts.size = asked.size.value_or(counts.size);
  counts.training = asked.training.value_or(counts.training);
  counts.held_out = asked.held_out.value_or(counts.held_out);
  return counts;
}

llm::problem_set problems_of(const grpo_task& task, const grpo_config& config) {
  if (task.game()) return hands_of(*task.game(), config);
  auto counts = counts_of(task, config);
  try {
    if (!task.is_generated()) return make_problems(*task.problems(), counts, config.seed);
    const std::int64_t shots = config.task.shots;
    counts.training = shows_answers(config) ? std::max(counts.training, shots) : 1;
    return first_problems(config.python_items(task.problems()->generator), counts);
  } catch (const llm::problem_counts_error& e) {
    throw config_error("/task/problems/" + e.option, e.what());
  }
}

namespace detail {
namespace {

void check_code(const grpo_config& config) {
  if (!config.allow_unsandboxed_code)
    throw config_error("/task/name",
                       "code runs what the model writes as a process of its own, with limits of "
                       "time and memory but without a sandbox: it can read and write files and "
                       "reach the network; expected --allow-unsandboxed-code (in a program "
                       "grpo_config::allow_unsandboxed_code) to allow that");
  if (config.model.path.empty())
    throw config_error("/model/path",
                       "expected a chat model's folder or GGUF file for the task code, got \"\": "
                       "the model of 22 letters can't write Python");
  if (config.deterministic)
    throw config_error("/deterministic",
                       "expected false for the task code, as its programs are other processes, "
                       "which keep no virtual time");
}

void check_held_out(const grpo_config& config, std::int64_t held_out) {
  const auto during = problems_during_training(config);
  const auto wanted = config.evaluation.final_problems;
  if (during >= held_out)
    throw config_error("/evaluation/problems",
                       fmt::format("expected at most {}, fewer than task.problems.held_out, as the "
                                   "evaluation at the end asks others, got {}",
                                   held_out - 1, during));
  if (during + wanted <= held_out) return;
  throw config_error("/evaluation/final_problems",
                     fmt::format("expected at most {}, the {} of task.problems.held_out less the "
                                 "{} of evaluation.problems, got {}",
                                 held_out - during, held_out, during, wanted));
}

/// Throws std::invalid_argument for a problem with letters that the letters model does not have.
void check_letters(const std::string& task, const llm::problem& asked, const prompt_format& by) {
  for (const auto& text : {asked.letters, asked.expected}) {
    if (by.tokens.decode(by.tokens.encode(text)) == text) continue;
    throw std::invalid_argument(fmt::format(
        "task {}: expected letters of the letters model alone, 0-9 + - * = > a-f, got \"{}\"; a "
        "chat model (model.path) is asked in words",
        task, text));
  }
}

}  // namespace

void check_problem(const std::string& task, const llm::problem& asked, const prompt_format& by) {
  if (!by.style) check_letters(task, asked, by);
  const auto& text = by.style ? asked.question : asked.letters;
  const auto room = by.config.max_positions;
  if (text.empty())
    throw std::invalid_argument(fmt::format("task {}: a problem's {}: expected a text, got \"\"",
                                            task, by.style ? "question" : "letters"));
  if (!by.style && std::ssize(text) >= room)
    throw std::invalid_argument(fmt::format(
        "task {}: expected problems of fewer than {} letters, got \"{}\"", task, room, text));
}

namespace {

void check_game(const openenv::text_game& game, const grpo_config& config) {
  if (game.environment.empty() && config.game.urls.empty())
    throw config_error("/game/urls", fmt::format("expected servers for {}, which names no "
                                                 "environment of Troupe's, got none",
                                                 game.name));
  const int turns = config.game.turns.value_or(game.turns);
  if (turns < 1)
    throw config_error("/game/turns",
                       fmt::format("expected at least 1 for {}, got {}", game.name, turns));
}

}  // namespace

void check_options(const grpo_task& task, const grpo_config& config) {
  if (task.is_code()) check_code(config);
  if (task.game() && !config.reward.empty())
    throw config_error("/reward", fmt::format("expected [] for {}, whose world gives the reward, "
                                              "got {}",
                                              task.name(), config.reward.front()));
  const auto refuse_deterministic = [&](const std::string& what) {
    if (config.deterministic)
      throw config_error("/deterministic", "expected false with " + what +
                                               ", as a process in Python keeps no virtual time");
  };
  if (!config.reward.empty()) refuse_deterministic("the reward " + config.reward.front());
  if (task.is_generated())
    refuse_deterministic("the problems of python:" + task.problems()->generator);
  if (task.game()) return check_game(*task.game(), config);
  check_held_out(config, counts_of(task, config).held_out);
}

std::int64_t problems_during_training(const grpo_config& config) {
  return config.evaluation.every_updates > 0 ? config.evaluation.problems : 0;
}

held_out_problems held_out_problems_of(const grpo_task& task, const grpo_config& config,
                                       const std::vector<llm::problem>& held_out) {
  if (task.game()) return {held_out, held_out};
  const auto others = held_out.end() - problems_during_training(config);
  return {{others, held_out.end()}, {held_out.begin(), others}};
}

void check_problems(const grpo_task& task, const grpo_config& config) {
  const auto made = problems_of(task, config);
  const auto format = prompt_format_of(config, made.training);
  if (task.game()) return;
  if (config.reward.empty()) {
    const answer_judge judge(task.problems()->rewards);
  } else {
    const python_reward judge(config.python_rewards());
  }
  const bool compares = config.reward.empty() && names_generator(task.name());
  for (const auto* some : {&made.training, &made.held_out}) {
    for (const auto& each : *some) {
      check_problem(task.name(), each, format);
      if (!each.expected.empty()) continue;
      if (shows_answers(config))
        throw std::invalid_argument(fmt::format(
            "task {}: expected a right answer to each problem, which warm_start.batches "
            "and task.shots show (0: none is needed), got none to \"{}\"",
            task.name(), each.question));
      if (compares)
        throw std::invalid_argument(fmt::format(
            "task {}: expected the key \"answer\" in each item, or reward functions that need none "
            "(option reward), got none to \"{}\"",
            task.name(), each.question));
    }
  }
}

}  // namespace detail

}  // namespace troupe

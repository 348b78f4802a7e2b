#include "algorithms/language_models/grpo/grpo_task.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "actors/coder/recorded_runs.hpp"
#include "actors/llm/tasks/data_problems.hpp"
#include "actors/llm/tasks/letters_model.hpp"
#include "actors/llm/tasks/named_rewards.hpp"
#include "actors/llm/tasks/python_problems.hpp"
#include "actors/openenv/server/local_world.hpp"
#include "actors/openenv/text/served_world.hpp"
#include "actors/sandbox/check_sandbox.hpp"
#include "actors/text/recorded_episodes.hpp"
#include "algorithms/language_models/grpo/grpo_episode.hpp"
#include "algorithms/language_models/grpo/prompt_format.hpp"
#include "runtime/base/log.hpp"
#include "runtime/config/nearest_name.hpp"

namespace troupe {

const std::string& grpo_task::name() const {
  return std::visit([](const auto& kind) -> const std::string& { return kind.name; }, kind_);
}

const std::string& grpo_task::what() const {
  return std::visit([](const auto& kind) -> const std::string& { return kind.what; }, kind_);
}

int grpo_task::turns() const {
  if (game()) return game()->turns;
  return world() ? world()->turns : 1;
}

bool grpo_task::has_letters() const {
  if (game()) return game()->has_letters();
  return world() ? world()->has_letters : !is_data();
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

namespace {

/// The lines of a file, and `option`, which names it.
std::shared_ptr<const llm::data_problems> data_of(const std::string& path, const char* option,
                                                  const grpo_config& config) {
  try {
    return std::make_shared<const llm::data_problems>(llm::read_data(path, config.data_fields()));
  } catch (const std::exception& error) {
    throw config_error(option, error.what());
  }
}

llm::problem_task data_task_of(const grpo_config& config) {
  const auto& section = config.task;
  auto data = data_of(section.data, "/task/data", config);
  std::shared_ptr<const llm::data_problems> held_out;
  if (!section.held_out_data.empty())
    held_out = data_of(section.held_out_data, "/task/held_out_data", config);
  return llm::data_task(section.label(), std::move(data), std::move(held_out));
}

/// The game that the options of a world on servers name, or null.
const openenv::text_game* game_on_servers(const grpo_task_section& section) {
  try {
    return openenv::served_game(section.world_options.text);
  } catch (const std::invalid_argument& error) {
    throw config_error("/task/world_options", error.what());
  }
}

/// A world without its maker, which world_of adds.
grpo_task world_task_of(const grpo_task_section& section) {
  const auto& name = section.world;
  if (const auto* known = find_text_environment(name)) return *known;
  if (const auto* game = openenv::find_text_game(name)) return *game;
  if (openenv::names_servers(name)) {
    if (const auto* game = game_on_servers(section)) return *game;
    return text_environment_spec{.name = section.label(),
                                 .what = "a world on OpenEnv servers",
                                 .not_deterministic = "a server plays it"};
  }
  if (names_python_text(name))
    return text_environment_spec{.name = section.label(),
                                 .what = "a world in Python",
                                 .blocks = true,
                                 .not_deterministic = "it runs in Python"};
  auto known = text_environment_names();
  for (const auto& game : openenv::text_games()) known.push_back(game.name);
  throw config_error("/task/world", unknown_name_message("world", name, known) +
                                        ". Worlds on OpenEnv servers are openenv:URL, and those in "
                                        "Python module:Class or skyrl:ID");
}

}  // namespace

grpo_task task_of(const grpo_config& config) {
  const auto& section = config.task;
  if (!section.world.empty()) {
    auto world = world_task_of(section);
    if (section.data.empty()) return world;
    return {std::move(world), data_task_of(config)};
  }
  if (!section.data.empty()) return data_task_of(config);
  return find_task(section.label());
}

grpo_part part_of(const grpo_config& config, const grpo_task& task) {
  grpo_part part{task, config};
  auto& section = part.config.task;
  section.name = task.name();
  // Beside other tasks, a world goes without the rewards of those.
  if (section.reward.empty() && (config.tasks.empty() || !task.is_played())) {
    section.reward = config.reward;
    section.reward_weights = config.reward_weights;
  }
  part.config.tasks.clear();
  return part;
}

std::vector<grpo_part> parts_of(const grpo_config& config) {
  if (config.tasks.empty()) return {part_of(config, task_of(config))};
  if (!config.task.data.empty() || !config.task.world.empty())
    throw config_error("/task", "expected no data and no world beside tasks, which replaces it");
  std::vector<grpo_part> parts;
  for (std::size_t i = 0; i < config.tasks.size(); ++i) {
    auto one = config;
    one.task = config.tasks[i];
    try {
      parts.push_back(part_of(one, task_of(one)));
    } catch (const config_error& error) {
      const std::string what = error.what();
      throw config_error(fmt::format("/tasks/{}", i) + error.pointer().substr(5),
                         what.substr(error.pointer().size() + 2));
    }
    const auto same = [&](const grpo_part& part) {
      return part.task.name() == parts.back().task.name();
    };
    if (std::ranges::count_if(parts, same) > 1)
      throw config_error(fmt::format("/tasks/{}/name", i),
                         fmt::format("expected a name that no other task has, got \"{}\"",
                                     parts.back().task.name()));
  }
  return parts;
}

algorithm algorithm_with(const grpo_config& config) {
  return detail::grpo_algorithm_with(config, parts_of(config));
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
  return detail::grpo_algorithm_with(config, {part_of(config, task)});
}

std::vector<reward_function<llm::answered_problem>> rewards_of(const grpo_part& part) {
  const auto& section = part.config.task;
  if (section.reward.empty()) return part.task.problems()->rewards;
  std::vector<reward_function<llm::answered_problem>> rewards;
  for (std::size_t i = 0; i < section.reward.size(); ++i) {
    const auto& name = section.reward[i];
    const double weight = section.reward_weights.empty() ? 1 : section.reward_weights[i];
    if (!llm::is_python_reward(name)) rewards.push_back(llm::named_reward(name, weight));
  }
  return rewards;
}

python_reward_options python_rewards_of(const grpo_part& part, const llm::problem_set& problems) {
  auto options = part.config.python_rewards();
  std::vector<const llm::problem*> all;
  for (const auto* some : {&problems.training, &problems.held_out})
    for (const auto& each : *some) all.push_back(&each);
  options.columns = llm::columns_of(all, runs_code(part));
  return options;
}

bool runs_code(const grpo_part& part) {
  if (!part.task.problems()) return false;
  return part.task.problems()->is_code ||
         std::ranges::any_of(part.config.task.reward, llm::runs_code);
}

namespace {

/// The world of a game, without its maker if it is on the servers of task.world.
text_environment_spec world_of_game(const openenv::text_game& game, const grpo_config& config,
                                    metrics_registry* metrics) {
  const auto& urls = config.world.urls;
  if (openenv::names_servers(config.task.world)) {
    auto world = openenv::text_environment_of(game, {});
    world.make = nullptr;
    return world;
  }
  return openenv::text_environment_of(game, urls.empty()
                                                ? openenv_server::local_worlds(game.environment)
                                                : openenv::worlds_on({.urls = urls}, metrics));
}

}  // namespace

text_environment_spec world_of(const grpo_part& part, metrics_registry* metrics) {
  const auto& section = part.config.task;
  auto world = part.task.game() ? world_of_game(*part.task.game(), part.config, metrics)
                                : *part.task.world();
  if (!section.replay.empty()) {
    world.make = replayed(read_episodes(section.replay));
    world.blocks = false;
  } else if (!world.make) {
    world.make = openenv::names_servers(section.world)
                     ? openenv::worlds_of(section.world, section.world_options.text, metrics)
                     : python_text_environments(part.config.python_world());
  }
  return world;
}

namespace {

/// A hundred made-up beginnings with a reply for each, if the task has conversations to practise.
llm::problem_set hands_of(const std::function<std::vector<dialogue_turn>(action_random&)>& practise,
                          std::uint64_t seed) {
  llm::problem_set made;
  if (!practise) return {.training = {{}}, .held_out = {{}}};
  action_random random(seed);
  while (made.training.size() < 100) {
    const auto first = practise(random).front();
    auto& one = made.training.emplace_back(opening_of({.shown = first.shown}));
    one.expected = first.said.words;
  }
  made.held_out.push_back(made.training.front());  // deals are held out by their seeds
  return made;
}

/// The lines of a task's file.
llm::problem_set lines_of(const grpo_task& task, const llm::problem_counts& counts,
                          std::uint64_t seed) {
  const auto& file = *task.file();
  auto all = file.data->problems;
  if (task.is_played()) {  // the world asks, and items may share their prompt
    for (auto& each : all) {
      each.question = each.columns;
      each.messages.clear();
      each.tools.clear();
    }
  }
  auto made = file.held_out_data ? llm::problem_set{std::move(all), file.held_out_data->problems}
                                 : llm::divided(std::move(all), counts.held_out, seed);
  const auto kept = static_cast<std::size_t>(counts.training);
  if (made.training.size() > kept) made.training.resize(kept);
  return made;
}

/// True if right answers to training problems are shown to the model.
bool shows_answers(const grpo_config& config) {
  return config.warm_start.shows_problems() || config.task.shots > 0;
}

}  // namespace

llm::problem_counts counts_of(const grpo_task& task, const grpo_config& config) {
  auto counts = task.file()       ? task.file()->counts
                : task.problems() ? task.problems()->counts
                                  : llm::problem_counts{};
  const auto& asked = config.task.problems;
  counts.size = asked.size.value_or(counts.size);
  counts.training = asked.training.value_or(counts.training);
  counts.held_out = asked.held_out.value_or(counts.held_out);
  return counts;
}

llm::problem_set problems_of(const grpo_task& task, const grpo_config& config) {
  auto counts = counts_of(task, config);
  try {
    if (task.file()) return lines_of(task, counts, config.seed);
    if (task.game())
      return hands_of(openenv::text_environment_of(*task.game(), {}).practise, config.seed);
    if (task.world()) return hands_of(task.world()->practise, config.seed);
    if (!task.is_generated()) return make_problems(*task.problems(), counts, config.seed);
    const std::int64_t shots = config.task.shots;
    counts.training = shows_answers(config) ? std::max(counts.training, shots) : 1;
    return first_problems(config.python_items(task.problems()->generator), counts);
  } catch (const llm::problem_counts_error& e) {
    throw config_error("/task/problems/" + e.option, e.expectation);
  }
}

namespace detail {
namespace {

void check_code(const grpo_config& config) {
  const bool runs_it = config.task.replay.empty();
  if (runs_it && !config.allow_unsandboxed_code) {
    try {
      require_sandbox();
    } catch (const sandbox_unavailable& e) {
      throw config_error("/task/name",
                         config.task.label() + " runs what the model writes, and " + e.what() +
                             "; `troupe check-sandbox` says more. --allow-unsandboxed-code (in a "
                             "program grpo_config::allow_unsandboxed_code) runs it without a "
                             "sandbox: it can then read and write files and reach the network");
    }
  }
  if (config.allow_unsandboxed_code && config.code.processes > 1 && ::geteuid() != 0)
    throw config_error(
        "/code/processes",
        fmt::format("expected 1 without a sandbox where this user is not root, got {}",
                    config.code.processes));
  if (config.model.path.empty())
    throw config_error("/model/path",
                       "expected a chat model's folder or GGUF file for the task code, got \"\": "
                       "the model of 22 letters can't write Python");
  // An answer is judged only after its code has run.
  constexpr double beside_a_run_s = 15;  // for the start of a program and for judging it
  if (config.rollout.answer_deadline_s < config.code.wall_s + beside_a_run_s)
    throw config_error(
        "/rollout/answer_deadline_s",
        fmt::format("expected at least code.wall_s and {} more, {}, for the start of a "
                    "program and for judging it, got {}",
                    beside_a_run_s, config.code.wall_s + beside_a_run_s,
                    config.rollout.answer_deadline_s));
  if (config.deterministic && runs_it)
    throw config_error("/deterministic",
                       "expected false for the task code, as its programs are other processes, "
                       "which keep no virtual time; task.record=FILE keeps their results, which "
                       "task.replay=FILE gives to a deterministic run");
}

void check_held_out(const grpo_task& task, const grpo_config& config) {
  const auto during = problems_during_training(config);
  const auto wanted = *config.evaluation.final_problems;
  const auto held_out = counts_of(task, config).held_out;
  if (judges_training(task, config)) {
    const auto most = most_evaluated(task, config);
    for (const auto& [asked, option] : {std::pair{during, "problems"}, {wanted, "final_problems"}})
      if (asked > most)
        throw config_error(fmt::format("/evaluation/{}", option),
                           fmt::format("expected at most {}, the prompts of the file, of which "
                                       "none is held out, got {}",
                                       most, asked));
    return;
  }
  if (held_out < 2 && during > 0)
    throw config_error(
        config.task.held_out_data.empty() ? "/task/problems/held_out" : "/task/held_out_data",
        fmt::format("expected 2 held-out problems or more, as the evaluation at the end asks "
                    "others than those during training (evaluation.every_updates=0: only the one "
                    "at the end), got {}",
                    held_out));
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
        "task {}: expected letters of the letters model alone, 0-9 + - * = > a-f, got \"{}\"; "
        "model.tokens=bytes and chat models (model.path) are asked in words",
        task, text));
  }
}

}  // namespace

void check_problem(const std::string& task, const llm::problem& asked, const prompt_format& by) {
  if (by.is_letters) check_letters(task, asked, by);
  const auto& text = by.is_letters ? asked.letters : asked.question;
  const auto room = by.config.max_positions;
  if (text.empty())
    throw std::invalid_argument(fmt::format("task {}: a problem's {}: expected a text, got \"\"",
                                            task, by.is_letters ? "letters" : "question"));
  if (by.is_letters && std::ssize(text) >= room)
    throw std::invalid_argument(fmt::format(
        "task {}: expected problems of fewer than {} letters, got \"{}\"", task, room, text));
}

namespace {

void check_game(const openenv::text_game& game, const grpo_config& config) {
  const bool has_servers = !config.world.urls.empty() || openenv::names_servers(config.task.world);
  if (config.deterministic && has_servers && config.task.replay.empty())
    throw config_error(
        "/deterministic",
        fmt::format("expected false for {} on servers, which keep no virtual time", game.name));
  if (game.environment.empty() && !has_servers)
    throw config_error("/world/urls", fmt::format("expected servers for {}, which names no "
                                                  "environment of Troupe's, got none",
                                                  game.name));
  const int turns = config.world.turns.value_or(game.turns);
  if (turns < 1)
    throw config_error("/world/turns",
                       fmt::format("expected at least 1 for {}, got {}", game.name, turns));
}

/// Checks the options task.record and task.replay.
void check_recording(const grpo_task& task, const grpo_config& config) {
  const auto& [record, replay] = std::tie(config.task.record, config.task.replay);
  if (record.empty() && replay.empty()) return;
  const auto* const option = record.empty() ? "/task/replay" : "/task/record";
  const auto& file = record.empty() ? replay : record;
  const auto refuse = [&](const char* expected) {
    throw config_error(option, fmt::format("expected {}, got \"{}\"", expected, file));
  };
  if (!task.is_played() && !runs_code({task, config}))
    refuse("\"\" for a task that is no world and runs no code");
  if (!task.is_played() && !replay.empty()) {
    try {
      recorded_runs{replay};
    } catch (const std::exception& e) {
      throw config_error(option, e.what());
    }
  }
  if (!task.is_played() && !record.empty() && config.allow_unsandboxed_code)
    refuse("\"\" with --allow-unsandboxed-code, as only runs in sandboxes are recorded");
  if (!record.empty() && !replay.empty()) refuse("\"\" beside task.replay");
  if (config.mode != training_mode::sync)
    refuse("\"\" in async mode, in which other episodes are played each time");
}

}  // namespace

void check_options(const grpo_task& task, const grpo_config& config) {
  if (runs_code({task, config})) check_code(config);
  const auto& reward = config.task.reward;
  if (task.is_played() && !reward.empty())
    throw config_error("/task/reward",
                       fmt::format("expected [] for {}, whose world gives the reward, got {}",
                                   task.name(), reward.front()));
  const auto refuse_deterministic = [&](const std::string& what) {
    if (config.deterministic)
      throw config_error("/deterministic", "expected false with " + what +
                                               ", as a process in Python keeps no virtual time");
  };
  const auto in_python = std::ranges::find_if(reward, llm::is_python_reward);
  if (in_python != reward.end()) refuse_deterministic("the reward " + *in_python);
  if (task.is_generated())
    refuse_deterministic("the problems of python:" + task.problems()->generator);
  check_recording(task, config);
  if (task.world() && !task.world()->not_deterministic.empty() && config.deterministic &&
      config.task.replay.empty())
    throw config_error("/deterministic", fmt::format("expected false with the world {}, as {}",
                                                     task.name(), task.world()->not_deterministic));
  if (config.task.curriculum && config.task.level.empty())
    throw config_error("/task/curriculum", "expected null without the option task.level");
  if (task.game()) check_game(*task.game(), config);
  if (task.is_played() && !task.file()) return;
  check_held_out(task, config);
}

bool judges_training(const grpo_task& task, const grpo_config& config) {
  return task.file() && !task.file()->held_out_data && counts_of(task, config).held_out == 0;
}

std::vector<llm::problem> kept_from_training(const grpo_task& task, const grpo_config& config,
                                             const llm::problem_set& made) {
  if (task.is_played() || judges_training(task, config)) return {};
  return made.held_out;
}

std::int64_t most_evaluated(const grpo_task& task, const grpo_config& config) {
  if (judges_training(task, config)) return std::ssize(problems_of(task, config).held_out);
  return counts_of(task, config).held_out - problems_during_training(config);
}

std::int64_t problems_during_training(const grpo_config& config) {
  return config.evaluation.every_updates > 0 ? *config.evaluation.problems : 0;
}

held_out_problems held_out_problems_of(const grpo_task& task, const grpo_config& config,
                                       const std::vector<llm::problem>& held_out) {
  // Without a file, deals are held out by their seeds.
  if ((task.is_played() && !task.file()) || judges_training(task, config))
    return {held_out, held_out};
  const auto others = held_out.end() - problems_during_training(config);
  return {{others, held_out.end()}, {held_out.begin(), others}};
}

namespace {

/// Throws config_error with all lines of a file whose prompts the model has no room for.
void check_data(const grpo_config& config, const std::string& path, const char* option,
                const prompt_format& format) {
  const bool has_tests = std::ranges::any_of(config.task.reward, llm::runs_code);
  const auto check = [&](const llm::problem& asked) {
    const auto prompt = std::ssize(format.prompt_of(asked));
    if (format.style) {
      auto options = format.conversations().chat;
      options.tools = asked.tools;
      llm::require_written(format.tokens, *format.style, conversation_of(asked), options);
    }
    const auto room = format.config.max_positions - config.rollout.max_completion_tokens;
    if (prompt > room)
      throw std::invalid_argument(
          fmt::format("{}: expected a prompt of at most {} tokens, the model's {} less "
                      "rollout.max_completion_tokens, got {}",
                      config.task.prompt, room, format.config.max_positions, prompt));
    if (has_tests && asked.function.tests.empty())
      throw std::invalid_argument(
          "expected the fields \"function\", a name, and \"tests\", a list, for the reward tests");
  };
  try {
    llm::read_data(path, config.data_fields(), check);
  } catch (const std::exception& error) {
    throw config_error(option, error.what());
  }
}

/// Throws config_error for a level of a curriculum that has no problems.
void check_levels(const llm::problem_set& made) {
  std::set<std::uint64_t> levels;
  std::uint64_t last = 0;
  for (const auto& each : made.training) levels.insert(each.level);
  for (const auto* some : {&made.training, &made.held_out})
    for (const auto& each : *some) last = std::max(last, each.level);
  for (std::uint64_t level = 0; level <= last; ++level) {
    if (!levels.contains(level))
      throw config_error("/task/problems/held_out",
                         fmt::format("expected to leave training problems of every level, got none "
                                     "of level {}, counted from 0",
                                     level));
  }
}

void check_expected(const grpo_task& task, const grpo_config& config, const llm::problem& each) {
  if (!each.expected.empty()) return;
  if (shows_answers(config))
    throw std::invalid_argument(fmt::format(
        "task {}: expected a right answer to each problem, which warm_start.batches and task.shots "
        "show (0: none is needed), got none to \"{}\"",
        task.name(), each.question));
  if (config.task.reward.empty() && task.is_generated())
    throw std::invalid_argument(fmt::format(
        "task {}: expected the key \"answer\" in each item, or reward functions that need none "
        "(option reward), got none to \"{}\"",
        task.name(), each.question));
}

}  // namespace

void check_problems(const grpo_task& task, const grpo_config& config) {
  const auto made = problems_of(task, config);
  const auto format = prompt_format_of(config, made.training);
  if (judges_training(task, config))
    log::warn("no problem of the file is held out; evaluations ask those that are trained on",
              {{"task", task.name()}, {"prompts", made.held_out.size()}});
  if (config.warm_start.shows_data())
    warm_start_examples(config, format, kept_from_training(task, config, made));
  if (task.is_played()) {
    // A world in Python is imported. One on servers begins an episode, which tells its kind.
    const auto world = world_of({task, config}, nullptr);
    if (task.world()) world.make();
    const auto& section = config.task;
    if (openenv::names_servers(section.world) && section.replay.empty())
      openenv::require_words(section.world, section.world_options.text);
    return;
  }
  const auto rewards = rewards_of({task, config});
  auto python = python_rewards_of({task, config}, made);
  if (!rewards.empty() || python.functions.empty()) const answer_judge judge(rewards);
  if (!python.functions.empty()) const python_reward judge(std::move(python));
  if (config.task.curriculum) check_levels(made);
  if (task.is_data()) {
    check_data(config, config.task.data, "/task/data", format);
    if (!config.task.held_out_data.empty())
      check_data(config, config.task.held_out_data, "/task/held_out_data", format);
  }
  for (const auto* some : {&made.training, &made.held_out}) {
    for (const auto& each : *some) {
      check_problem(task.name(), each, format);
      check_expected(task, config, each);
    }
  }
}

}  // namespace detail

}  // namespace troupe

#pragma once
// The task that a language model learns: problems with reward functions, or a text world. Built-in
// tasks have names (find_task), and the configuration can name a file or a world; a task of your
// own is a value:
//
//   llm::problem_task clock{.name = "clock", .draw = draw_time, .rewards = {{"right", is_right}}};
//   train(algorithm_with(config, clock), {.root = "runs"}, {});
//
// examples/grpo_own_task.cpp and examples/grpo_own_world.cpp are complete programs.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "actors/llm/tasks/problem.hpp"
#include "actors/openenv/text/text_view.hpp"
#include "actors/text/text_environment.hpp"
#include "algorithms/language_models/grpo/config.hpp"

namespace troupe {

/// A task of problems, a game or another text world. It converts from each.
class grpo_task {
 public:
  grpo_task(llm::problem_task problems) : kind_(std::move(problems)) {}
  grpo_task(openenv::text_game game) : kind_(std::move(game)) {}
  grpo_task(text_environment_spec world) : kind_(std::move(world)) {}
  /// A game or world whose episodes are about the lines of a file (llm::data_task).
  grpo_task(grpo_task played, llm::problem_task items)
      : kind_(std::move(played.kind_)), items_(std::move(items)) {}

  const std::string& name() const;
  /// A description in a few words.
  const std::string& what() const;
  /// The problems; null if the task is a game or a world.
  const llm::problem_task* problems() const { return std::get_if<llm::problem_task>(&kind_); }
  /// The game on Troupe's own environment, or on OpenEnv servers; null if it is none.
  const openenv::text_game* game() const { return std::get_if<openenv::text_game>(&kind_); }
  /// The world; null if the task is problems or a game.
  const text_environment_spec* world() const { return std::get_if<text_environment_spec>(&kind_); }
  /// True if the model plays episodes and does not answer problems.
  bool is_played() const { return !problems(); }
  /// The default limit of the turns of an episode; 1 for problems.
  int turns() const;
  /// True if the letters model can learn the task.
  bool has_letters() const;
  /// True if a generator in Python gives the problems.
  bool is_generated() const { return problems() && !problems()->generator.empty(); }
  /// True if a file has the problems.
  bool is_data() const { return problems() && problems()->data; }
  /// The problems, or the items of episodes, that a file has; null if there is no file.
  const llm::problem_task* file() const {
    return is_data() ? problems() : items_ ? &*items_ : nullptr;
  }

 private:
  std::variant<llm::problem_task, openenv::text_game, text_environment_spec> kind_;
  std::optional<llm::problem_task> items_;
};

/// A task of a run, and the run's configuration with the task's section as `task` and without
/// `tasks`.
struct grpo_part {
  grpo_task task;
  grpo_config config;
};

/// The names of the built-in tasks, for grpo_config::task.name.
std::vector<std::string> known_task_names();
/// True for the name of a task in Python, python:MODULE:FUNCTION.
bool names_generator(const std::string& name);
/// The built-in task with this name, or the task of the generator that python:MODULE:FUNCTION
/// names. Throws config_error that lists all names and suggests the nearest one.
grpo_task find_task(const std::string& name);
/// The task of config.task: its file, its world or that of its name. Reads the file. Throws
/// config_error, which has all lines of a file that can't be used.
grpo_task task_of(const grpo_config& config);
/// The tasks of config.tasks, or the one of config.task. Each has the rewards of the option
/// `reward` unless it has some of its own.
std::vector<grpo_part> parts_of(const grpo_config& config);
/// The one part of a task of the program's own.
grpo_part part_of(const grpo_config& config, const grpo_task& task);

/// The algorithm for train and train_in on a task of the program's own, whose name replaces
/// config.task.name. Only a program that has the task can resume such a run and evaluate its model;
/// the `troupe` command can't. Throws config_error like algorithm_with(config), and for a name that
/// is empty or that of a built-in task.
algorithm algorithm_with(grpo_config config, const grpo_task& task);

/// The number and the size of the problems: the configuration's, or else the task's.
llm::problem_counts counts_of(const grpo_task& task, const grpo_config& config);

/// The problems of the task, which depend only on the configuration and its seed. For a game these
/// are a hundred made-up positions with a move for each, or the lines of its file. For a generator
/// in Python these are its first problems; those for training are as many as the warm start and the
/// shots use. Throws config_error if there are not as many different problems as the configuration
/// asks for, and python_error.
llm::problem_set problems_of(const grpo_task& task, const grpo_config& config);

/// The reward functions of the task that are not in Python: those that its configuration names, or
/// else its own.
std::vector<reward_function<llm::answered_problem>> rewards_of(const grpo_part& part);
/// The options of the task's reward functions in Python, with the columns of its problems.
python_reward_options python_rewards_of(const grpo_part& part, const llm::problem_set& problems);
/// True if answers are programs, which are run on tests.
bool runs_code(const grpo_part& part);
/// The world of a task that is played. Worlds on servers count in `metrics`, if it is not null.
text_environment_spec world_of(const grpo_part& part, metrics_registry* metrics);

struct prompt_format;

namespace detail {

/// The number of held-out problems that only evaluations during training ask.
std::int64_t problems_during_training(const grpo_config& config);
/// True if no problem of the task's file is held out, so that evaluations ask those that are
/// trained on.
bool judges_training(const grpo_task& task, const grpo_config& config);
/// The held-out problems, which a warm start must not show either. None if evaluations ask what is
/// trained on, and for games, whose deals are held out by their seeds.
std::vector<llm::problem> kept_from_training(const grpo_task& task, const grpo_config& config,
                                             const llm::problem_set& made);
/// The most problems that the evaluation at the end can ask. The configuration must be a completed
/// one.
std::int64_t most_evaluated(const grpo_task& task, const grpo_config& config);
/// The held-out problems in two disjoint lists: the last ones are for evaluations during training,
/// all others for the evaluation at the end and for evaluate_model. For games both lists have them
/// all, since deals are held out by their seeds, and so they do if no problem is held out.
struct held_out_problems {
  std::vector<llm::problem> during, at_the_end;
};
held_out_problems held_out_problems_of(const grpo_task& task, const grpo_config& config,
                                       const std::vector<llm::problem>& held_out);

/// Throws std::invalid_argument for a problem that the model can't read.
void check_problem(const std::string& task, const llm::problem& asked, const prompt_format& by);
/// Throws config_error if the task can't be learned or evaluated with the configuration, which must
/// be a completed one.
void check_options(const grpo_task& task, const grpo_config& config);
/// Makes and checks all problems of a run with a completed configuration. Throws like problems_of
/// and prompt_format_of, and std::invalid_argument for a problem that the model can't read and for
/// a task without rewards. Imports rewards in Python, and throws python_error if that fails.
void check_problems(const grpo_task& task, const grpo_config& config);
/// The algorithm for these tasks of the configuration.
algorithm grpo_algorithm_with(const grpo_config& config, std::vector<grpo_part> parts);

}  // namespace detail

}  // namespace troupe

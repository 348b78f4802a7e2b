#pragma once
// What a language model is taught: problems whose answers functions judge, or a game in words.
// Troupe's go by name; a task of your own is a value:
//
//   llm::problem_task clock{.name = "clock", .draw = draw_time, .rewards = {{"right", is_right}}};
//   train(algorithm_with(config, clock), {.root = "runs"}, {});
//
// A whole one: examples/grpo_own_task.cpp.

#include <string>
#include <variant>
#include <vector>

#include "actors/llm/tasks/problem.hpp"
#include "actors/openenv/text/text_world.hpp"
#include "algorithms/language_models/grpo/config.hpp"

namespace troupe {

/// Either of the two, and made from either.
class grpo_task {
 public:
  grpo_task(llm::problem_task problems) : kind_(std::move(problems)) {}
  grpo_task(openenv::text_game game) : kind_(std::move(game)) {}

  const std::string& name() const;
  /// Null where it is a game.
  const llm::problem_task* problems() const { return std::get_if<llm::problem_task>(&kind_); }
  /// Null where it isn't one.
  const openenv::text_game* game() const { return std::get_if<openenv::text_game>(&kind_); }
  /// Answers are programs, which are run.
  bool is_code() const { return problems() && problems()->is_code; }

 private:
  std::variant<llm::problem_task, openenv::text_game> kind_;
};

/// Of those that Troupe has, which grpo_config::task.name can name.
std::vector<std::string> known_task_names();
/// One of them. Throws config_error naming all, and the nearest.
grpo_task find_task(const std::string& name);

/// For train and train_in, with a task of the program's own: its name is the run's, in
/// config.task.name's place. The program that has the task can resume such a run, and evaluate its
/// model; the command can't. Throws config_error as algorithm_with(config), and for a name that is
/// empty or of a task that Troupe has.
algorithm algorithm_with(grpo_config config, const grpo_task& task);

/// How many problems, and how hard: the configuration's, or else the task's.
llm::problem_counts counts_of(const grpo_task& task, const grpo_config& config);

/// What is asked, by the seed; of a game a hundred made-up hands, and a move of each. Throws
/// config_error where there are not as many problems as the configuration wants.
llm::problem_set problems_of(const grpo_task& task, const grpo_config& config);

namespace detail {

/// How many held-out problems are of the evaluations during training, and judge nothing else.
std::int64_t problems_during_training(const grpo_config& config);
/// Held-out problems, which are none twice: the last are of the evaluations during training, all
/// others of the one at the end and of evaluate_model. Of games each has them all, as deals are
/// held out by their seeds.
struct exam_problems {
  std::vector<llm::problem> during, at_the_end;
};
exam_problems exams_of(const grpo_task& task, const grpo_config& config,
                       const std::vector<llm::problem>& held_out);

/// Throws config_error where the task can't be learned, or evaluated, by that configuration.
void check_options(const grpo_task& task, const grpo_config& config);
/// Makes everything that a run by a completed configuration is asked. Throws as problems_of and
/// subject_of, and std::invalid_argument for what the model can't read, or has no rewards.
void check_problems(const grpo_task& task, const grpo_config& config);
/// A run of the task that config.task.name is the name of.
algorithm grpo_algorithm_with(const grpo_config& config, const grpo_task& task);

}  // namespace detail

}  // namespace troupe

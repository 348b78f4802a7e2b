#pragma once
// Everything that decides a GRPO run.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/llm/tasks/problem.hpp"
#include "algorithms/language_models/grpo/grpo_options.hpp"
#include "algorithms/run/faults_option.hpp"
#include "algorithms/run/settings.hpp"
#include "algorithms/run/training_config.hpp"

namespace troupe {

/// Of the task's problems; none: as many, and as hard, as the task says itself.
struct grpo_problems_section {
  std::optional<int> size;
  std::optional<std::int64_t> training, held_out;
};

/// What is asked.
struct grpo_task_section {
  std::string name = "sum_digits";
  grpo_problems_section problems;
  /// Training problems that a chat model is shown, solved, before the one that it is asked.
  int shots = 0;
};

/// How answers are run, where the task is code.
struct grpo_code_section {
  int coders = 2;        ///< programs at the same time
  double wall_s = 5.0;   ///< after which one is killed
  int memory_mib = 512;  ///< of its address space
  int processes = 1;     ///< and threads of it at the same time, itself included
  /// Numbers of users, of which each coder takes two for its programs; where the trainer is root's.
  std::int64_t first_user = 61'184, last_user = 65'519;
};

/// How it is played, where the task is a game.
struct grpo_game_section {
  std::vector<std::string>
      urls;                  ///< OpenEnv servers; none: Troupe's own environment, in this process
  int worlds = 64;           ///< games at the same time
  std::optional<int> turns;  ///< after which a game is cut; none: the game's own
  double illegal_reward = -1.1;  ///< of what is no legal move, which ends the game
};

/// Who answers.
struct grpo_model_section {
  /// A folder or GGUF file; empty: the letters model of actors/llm/tasks, made by the seed.
  std::string path;
  std::string system_prompt;  ///< of a chat model; empty: none
};

/// Supervised steps before the first update, on right answers: where a model gets no reward to
/// begin with, it has nothing to learn from. Drawn from the training problems.
struct grpo_warm_start_section {
  std::optional<int> batches;  ///< 0: none; none: 40, of problems in letters 120
  int batch_size = 256;
  double lr = 1e-3;  ///< falls to 0
  /// The trainer's Adam goes on with the moments of these steps; none: of problems, not of games.
  std::optional<bool> keep_moments;
};

/// How answers are made.
struct grpo_rollout_section {
  std::optional<int> prompts;  ///< groups of one update; none: 64, of problems in letters 256
  std::optional<int> group;    ///< answers to each prompt; none: 8, of problems in letters 4
  int answer_tokens = 8;       ///< longest answer
  double temperature = 1.0;    ///< of sampling; training takes the same
  int rounds = 3;              ///< prompts asked for one group, until the answers teach something
  int workers = 64;            ///< groups under way at once in async mode
  int max_staleness = 8;       ///< versions that a group may be behind the trainer in async mode
  int slots = 64;              ///< answers that the generator writes at the same time
  /// Seconds until a group's answers, or a game's next move, are written; until an answer is judged
  /// or its code has run; until a game has a world, and that an answer. Waiting in line counts.
  double answer_deadline_s = 14'400;
};

struct grpo_samples_section {
  int every_updates = 1;  ///< 0: none are kept
};

struct grpo_evaluation_section {
  std::int64_t every_updates = 20;  ///< the first before training; 0: only at the end
  int problems = 100;               ///< held-out ones, of an evaluation during training
  int final_problems = 100;         ///< others, of the one at the end
  std::optional<double>
      stop_at;  ///< share of right answers, or mean reward of games, that ends training
};

struct grpo_config {
  std::string algo = "grpo";
  grpo_task_section task;
  grpo_code_section code;
  grpo_game_section game;
  grpo_model_section model;
  std::int64_t total_steps = 240;  ///< updates
  std::uint64_t seed = 1;
  training_mode mode = training_mode::sync;
  grpo_warm_start_section warm_start;
  grpo_rollout_section rollout;
  grpo_options trainer;
  grpo_evaluation_section evaluation;
  checkpoint_section checkpoint;
  grpo_samples_section samples;
  bool deterministic = false;
  std::string faults;
  /// Lets the task code run what the model writes without a sandbox. No field of a configuration
  /// file: whoever starts the program says it.
  bool allow_unsandboxed_code = false;
};

void describe(options_schema<grpo_problems_section>& s);
void describe(options_schema<grpo_task_section>& s);
void describe(options_schema<grpo_code_section>& s);
void describe(options_schema<grpo_game_section>& s);
void describe(options_schema<grpo_model_section>& s);
void describe(options_schema<grpo_warm_start_section>& s);
void describe(options_schema<grpo_rollout_section>& s);
void describe(options_schema<grpo_samples_section>& s);
void describe(options_schema<grpo_evaluation_section>& s);
void describe(options_schema<grpo_config>& s);

/// For run_training and train_in, with the task of that name; one of your own: grpo_task.hpp.
/// Throws config_error for a name that isn't known and for more problems of evaluations than are
/// held out; for the task code where code may not be run, by the letters model, which can't write
/// any, and where deterministic is true.
trainable trainable_of(const grpo_config& config);

}  // namespace troupe

#pragma once
// The configuration of a GRPO run. The `describe` functions (config.cpp) have the unit, the range
// and the meaning of each option; `troupe config grpo` prints them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/llm/generator/sampler.hpp"
#include "actors/llm/tasks/data_problems.hpp"
#include "actors/llm/tasks/problem.hpp"
#include "actors/python/python_dataset.hpp"
#include "actors/python/python_reward.hpp"
#include "actors/text/python_text_environment.hpp"
#include "algorithms/language_models/config.hpp"
#include "algorithms/language_models/model/lora_section.hpp"
#include "algorithms/language_models/model/model_section.hpp"
#include "algorithms/learner/annealing.hpp"
#include "algorithms/losses/grpo_loss.hpp"
#include "algorithms/run/config.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// The place of the KL penalty for the distance from the first weights.
enum class kl_place { loss, reward };
/// The policy in the denominator of the clipped ratio.
enum class proximal_policy {
  automatic,   ///< recomputed if a batch is trained on in several steps, else behaviour
  behaviour,   ///< the weights that sampled each token, by the log-probabilities recorded then
  recomputed,  ///< the weights that the update begins with (decoupled PPO)
};
/// The treatment of a group whose answers all have the same reward.
enum class zero_variance_rule {
  keep,    ///< The group is trained on: its tokens count, and a KL penalty applies to them.
  drop,    ///< The group is left out, and the batch is smaller.
  refill,  ///< Another prompt is asked instead, at most rollout.rounds in all, then as `drop`.
};

/// The update rule. algorithms/losses/ has the paper of each option, and docs/algorithms/grpo.md
/// the origin of the defaults. Options without a value take that of the variant or of the kind of
/// task; see completed in grpo_defaults.hpp.
struct grpo_options : language_model_options {
  std::optional<grpo_variant> variant = {};
  std::optional<advantage_kind> advantage = {};
  std::optional<policy_term> term = {};
  std::optional<ratio_level> ratio = {};
  std::optional<loss_aggregation> aggregation = {};
  std::optional<double> clip_low = {}, clip_high = {};
  double dual_clip = 3.0;
  double cispo_max = 5.0;
  double advantage_eps = 1e-4;

  proximal_policy proximal = proximal_policy::automatic;
  std::optional<correction_kind> correction = {};
  correction_level correction_by = correction_level::token;
  double correction_max = 5.0;
  double correction_min = 0.0;

  std::optional<double> kl_coef = {};
  kl_place kl_in = kl_place::loss;
  kl_kind kl = kl_kind::k3;
  std::int64_t reference_every_updates = 0;
  double reference_mixup = 0.6;
  double entropy_coef = 0.0;

  lora_section lora = {};

  std::optional<zero_variance_rule> zero_variance_groups = {};
  bool mask_truncated = false;
  std::optional<std::int64_t> overlong_cache = {};

  std::optional<double> lr = {};
  annealing lr_schedule = annealing::linear;
  std::optional<int> warmup_updates = {};
  int epochs = 1;
  int minibatches = 1;
  int micro_tokens = 2048;

  grpo_preset preset() const { return preset_of(variant.value_or(grpo_variant::cispo)); }
  advantage_kind advantages() const { return advantage.value_or(preset().advantage); }
  policy_term loss_term() const { return term.value_or(preset().loss.term); }
  double penalty() const { return kl_coef.value_or(0.0); }
  /// True if the reference of the KL penalty changes in the course of training.
  bool refreshes_reference() const { return penalty() != 0.0 && reference_every_updates > 0; }
  /// True if training needs the weights that it began with until its end.
  bool needs_first_weights() const {
    return lora.rank > 0 || (penalty() != 0.0 && !refreshes_reference());
  }
  zero_variance_rule zero_variance_rule_used() const;
  /// The overlong_cache, in tokens, for answers of at most `max_completion_tokens`.
  std::int64_t overlong_tokens(std::int64_t max_completion_tokens) const;
  /// The variant's loss options, overridden by the options that have a value here.
  grpo_loss_options loss() const;
  /// True if an update recomputes log-probabilities under the weights that it begins with.
  bool recomputes() const;
  /// True if tokens that other weights sampled get an importance weight.
  bool corrects() const;
  correction_kind correction_used() const;
};

/// The number and the size of the task's problems. Options without a value take the task's own.
struct grpo_problems_section {
  std::optional<int> size = {};
  std::optional<std::int64_t> training = {}, held_out = {};
};

/// What a task is, for the conditions under which options have an effect.
struct grpo_task_kind {
  bool is_played = false;        ///< a game or another text world
  bool is_game = false;          ///< a game
  bool is_generated = false;     ///< A generator in Python gives the problems.
  bool has_file = false;         ///< A file has the problems or the items of episodes.
  bool runs_code = false;        ///< Answers are programs.
  bool world_in_python = false;  ///< a world in Python
};

/// A task that the model learns: problems that are drawn, the lines of a file, the items of a
/// generator in Python, or a text world.
struct grpo_task_section {
  std::string name = "sum_digits";
  std::string data = {};
  std::string prompt = "prompt";
  std::string answer = "answer";
  std::string held_out_data = {};
  std::string level = {};
  std::vector<std::string> levels = {};
  std::optional<curriculum_section> curriculum = {};
  std::string world = {};
  json_object world_options = {};
  std::string record = {};
  std::string replay = {};
  std::vector<std::string> reward = {};
  std::vector<double> reward_weights = {};
  double share = 1;
  grpo_problems_section problems = {};
  int shots = 0;
  grpo_task_kind kind = {};  ///< No option: completed (grpo_defaults.hpp) sets it.

  /// The name. With a file or a world, the default name stands for theirs.
  std::string label() const;
};

/// The processes of rewards and problems in Python.
struct grpo_python_section {
  std::string interpreter = {};
  int workers = 1;
  double start_timeout = 120;
  double reward_timeout = 60;
  double prompt_timeout = 60;
  double world_timeout = 60;
  std::int64_t memory_limit_mb = 0;
};

/// The execution of answers if the task is code.
struct grpo_code_section {
  int coders = 2;
  double wall_s = 5.0;
  int memory_mib = 512;
  int processes = 1;
  std::int64_t first_user = 61'184, last_user = 65'519;
};

/// What replaces the return of an episode in a text world, by its sign. Without a value the return
/// stays.
struct grpo_outcomes_section {
  std::optional<double> win = {}, push = {}, loss = {};

  double reward(double world_return) const;
};

/// The treatment of replies that are no action.
enum class refusal_rule {
  automatic,  ///< as the world has it: games end the episode, other worlds tell the model
  tell,       ///< The model is told and goes on. The turn counts.
  end,        ///< The episode ends.
};

/// What happens when the model's context has no room for another turn.
enum class full_context_rule {
  truncate,  ///< The episode ends and is truncated.
  forget,    ///< The model is no longer shown the older half of the turns.
};

/// The text worlds, in tasks that are played.
struct grpo_world_section {
  std::vector<std::string> urls = {};
  std::optional<int> replicas = {};
  std::optional<int> turns = {};
  refusal_rule malformed = refusal_rule::automatic;
  std::optional<double> malformed_reward = {};
  grpo_outcomes_section outcomes = {};
  std::optional<int> history = {};
  full_context_rule context = full_context_rule::truncate;
  int shared_turns = 0;
};

/// Supervised steps before the first update, on right answers to training problems or on the
/// examples of a file. A model that never gets a reward at the start would otherwise have nothing
/// to learn from.
struct grpo_warm_start_section {
  std::string data = {};
  std::optional<int> batches = {};
  int batch_size = 256;
  double lr = 1e-3;
  std::optional<bool> keep_moments = {};

  /// True if the supervised steps are on the examples of the file.
  bool shows_data() const { return batches.value_or(0) > 0 && !data.empty(); }
  /// True if they are on right answers to training problems.
  bool shows_problems() const { return batches.value_or(0) > 0 && data.empty(); }
};

/// The generation of answers.
struct grpo_rollout_section {
  std::optional<int> prompts = {};
  std::optional<int> group = {};
  int max_completion_tokens = 8;
  double temperature = 1.0;
  double top_p = 1.0;
  std::int64_t top_k = 0;
  double min_p = 0.0;
  double repetition_penalty = 1.0;
  int rounds = 3;
  int workers = 64;
  int max_staleness = 8;
  bool partial = true;
  int slots = 64;
  int cache_mib = 1024;
  /// In seconds. The deadline for writing a group's answers or a game's next move, for judging an
  /// answer, for running its code, for finding a world for a game, and for the world's answer.
  double answer_deadline_s = 14'400;

  llm::sampling_options sampling() const;
};

/// The answers that are kept for people to read.
struct grpo_samples_section {
  int every_updates = 1;
  bool tokens = false;
};

/// The evaluation on held-out problems.
struct grpo_evaluation_section {
  std::int64_t every_updates = 20;
  std::optional<std::int64_t> problems = {};
  std::optional<std::int64_t> final_problems = {};
  std::optional<double> stop_at = {};
};

/// The configuration of a run.
struct grpo_config {
  std::string algo = "grpo";
  grpo_task_section task = {};
  /// Several tasks in place of `task`. Empty means the one.
  std::vector<grpo_task_section> tasks = {};
  /// The rewards of tasks that name none, such as "exact" and "python:my_rewards:score". Empty
  /// means the tasks' own.
  std::vector<std::string> reward = {};
  std::vector<double> reward_weights = {};
  grpo_python_section python = {};
  grpo_code_section code = {};
  grpo_world_section world = {};
  model_section model = {};
  std::int64_t total_steps = 240;
  std::optional<std::int64_t> schedule_steps = {};
  std::uint64_t seed = 1;
  training_mode mode = training_mode::sync;
  grpo_warm_start_section warm_start = {};
  grpo_rollout_section rollout = {};
  grpo_options trainer = {};
  grpo_evaluation_section evaluation = {};
  checkpoint_section checkpoint = {};
  grpo_samples_section samples = {};
  bool deterministic = false;
  std::string faults = {};
  /// Lets the task code run the model's programs without a sandbox. A configuration file can't set
  /// it; only the caller or the command line can.
  bool allow_unsandboxed_code = false;

  /// True if something runs in Python: a reward, the task, its world or the reader of its files.
  bool runs_python() const;
  /// The fields of the rows in the files of `task`, and the process that reads Parquet.
  llm::data_fields data_fields() const;
  /// The rewards of `task` in Python. It has no functions if there are none.
  python_reward_options python_rewards() const;
  /// The world of `task` in Python.
  python_text_options python_world() const;
  /// The items of a generator in Python, such as "my_tasks:problems".
  python_dataset_options python_items(const std::string& generator) const;
};

void describe(enum_schema<grpo_variant>& s);
void describe(enum_schema<advantage_kind>& s);
void describe(enum_schema<policy_term>& s);
void describe(enum_schema<ratio_level>& s);
void describe(enum_schema<loss_aggregation>& s);
void describe(enum_schema<correction_kind>& s);
void describe(enum_schema<correction_level>& s);
void describe(enum_schema<kl_kind>& s);
void describe(enum_schema<kl_place>& s);
void describe(enum_schema<proximal_policy>& s);
void describe(enum_schema<zero_variance_rule>& s);
void describe(options_schema<grpo_options>& s);

void describe(options_schema<grpo_problems_section>& s);
void describe(options_schema<grpo_task_section>& s);
void describe(options_schema<grpo_python_section>& s);
void describe(options_schema<grpo_code_section>& s);
void describe(enum_schema<refusal_rule>& s);
void describe(enum_schema<full_context_rule>& s);
void describe(options_schema<grpo_outcomes_section>& s);
void describe(options_schema<grpo_world_section>& s);
void describe(options_schema<grpo_warm_start_section>& s);
void describe(options_schema<grpo_rollout_section>& s);
void describe(options_schema<grpo_samples_section>& s);
void describe(options_schema<grpo_evaluation_section>& s);
void describe(options_schema<grpo_config>& s);

/// The algorithm for train and train_in, on the built-in task that the configuration names;
/// grpo_task.hpp has an overload for tasks of your own. Throws config_error for an unknown name,
/// and if the evaluations ask more problems than are held out. For the task code it also throws
/// config_error without allow_unsandboxed_code, for the letters model, which can't write code, and
/// if deterministic is true.
algorithm algorithm_with(const grpo_config& config);

}  // namespace troupe

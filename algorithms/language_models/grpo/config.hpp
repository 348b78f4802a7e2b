#pragma once
// Everything that decides a GRPO run. `describe` of each struct has the unit, the range and the
// meaning of its options.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/llm/tasks/problem.hpp"
#include "algorithms/language_models/config.hpp"
#include "algorithms/learner/annealing.hpp"
#include "algorithms/losses/grpo_loss.hpp"
#include "algorithms/run/config.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// Where a penalty for the distance from the first weights is.
enum class kl_place { loss, reward };
/// What the clipped ratio is to.
enum class proximal_policy {
  automatic,   ///< recomputed where a batch is trained on in several steps, else the behaviour
  behaviour,   ///< the weights that sampled each token, by the log-probabilities recorded then
  recomputed,  ///< the weights the update begins with: decoupled PPO
};
/// What becomes of a group whose answers are all equally good.
enum class flat_group_rule {
  keep,    ///< it is trained on: its tokens count, and pull towards the reference if there is one
  drop,    ///< it isn't; the batch is smaller by it
  refill,  ///< another prompt is asked in its place, rollout.rounds times at most; then as `drop`
};

/// How it learns from groups of answers. Which paper each switch is from: algorithms/losses/, and
/// where the defaults are from: docs/grpo.md. Options without a value are the variant's, or the
/// task kind's: see completed.
struct grpo_options : language_model_options {
  std::optional<grpo_variant> variant;
  std::optional<advantage_kind> advantage;
  std::optional<policy_term> term;
  std::optional<ratio_level> ratio;
  std::optional<loss_aggregation> aggregation;
  std::optional<double> clip_low, clip_high;
  double dual_clip = 3.0;
  double cispo_max = 5.0;
  double advantage_eps = 1e-4;

  proximal_policy proximal = proximal_policy::automatic;
  std::optional<correction_kind> correction;
  correction_level correction_by = correction_level::token;
  double correction_max = 5.0;
  double correction_min = 0.0;

  std::optional<double> kl_coef;
  kl_place kl_in = kl_place::loss;
  kl_kind kl = kl_kind::k3;

  std::optional<flat_group_rule> flat_groups;
  bool mask_truncated = false;
  std::optional<std::int64_t> overlong_cache;

  std::optional<double> lr;
  annealing lr_schedule = annealing::linear;
  std::optional<int> warmup_updates;
  int epochs = 1;
  int minibatches = 1;
  int micro_tokens = 2048;

  grpo_preset preset() const { return preset_of(variant.value_or(grpo_variant::cispo)); }
  advantage_kind advantages() const { return advantage.value_or(preset().advantage); }
  policy_term loss_term() const { return term.value_or(preset().loss.term); }
  double penalty() const { return kl_coef.value_or(0.0); }
  flat_group_rule flat_rule() const;
  /// The overlong_cache where answers have at most so many tokens.
  std::int64_t overlong_tokens(std::int64_t answer_tokens) const;
  /// The variant's, with what has a value here.
  grpo_loss_options loss() const;
  bool recomputes() const;
  /// What was sampled by other weights is weighted.
  bool corrects() const;
  correction_kind correction_used() const;
};

/// Of the task's problems; without a value: as many, and as hard, as the task says itself.
struct grpo_problems_section {
  std::optional<int> size;
  std::optional<std::int64_t> training, held_out;
};

/// What is asked.
struct grpo_task_section {
  std::string name = "sum_digits";
  grpo_problems_section problems;
  int shots = 0;
};

/// How answers are run, where the task is code.
struct grpo_code_section {
  int coders = 2;
  double wall_s = 5.0;
  int memory_mib = 512;
  int processes = 1;
  std::int64_t first_user = 61'184, last_user = 65'519;
};

/// How it is played, where the task is a game.
struct grpo_game_section {
  std::vector<std::string> urls;
  int worlds = 64;
  std::optional<int> turns;
  double illegal_reward = -1.1;
};

/// Who answers. The letters model is that of actors/llm/tasks.
struct grpo_model_section {
  std::string path;
  std::string system_prompt;
};

/// Supervised steps before the first update, on right answers: where a model gets no reward to
/// begin with, it has nothing to learn from. Drawn from the training problems.
struct grpo_warm_start_section {
  std::optional<int> batches;
  int batch_size = 256;
  double lr = 1e-3;
  std::optional<bool> keep_moments;
};

/// How answers are made.
struct grpo_rollout_section {
  std::optional<int> prompts;
  std::optional<int> group;
  int answer_tokens = 8;
  double temperature = 1.0;
  int rounds = 3;
  int workers = 64;
  int max_staleness = 8;
  int slots = 64;
  /// Also of a game's next move; of judging an answer, or running its code; and until a game has a
  /// world, and that an answer.
  double answer_deadline_s = 14'400;
};

struct grpo_samples_section {
  int every_updates = 1;
};

struct grpo_evaluation_section {
  std::int64_t every_updates = 20;
  int problems = 100;
  int final_problems = 100;
  std::optional<double> stop_at;
};

struct grpo_config {
  std::string algo = "grpo";
  grpo_task_section task;
  grpo_code_section code;
  grpo_game_section game;
  grpo_model_section model;
  std::int64_t total_steps = 240;
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
void describe(enum_schema<flat_group_rule>& s);
void describe(options_schema<grpo_options>& s);

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

/// For train and train_in, with the task of that name; one of your own: grpo_task.hpp.
/// Throws config_error for a name that isn't known and for more problems of evaluations than are
/// held out; for the task code where code may not be run, by the letters model, which can't write
/// any, and where deterministic is true.
algorithm algorithm_with(const grpo_config& config);

}  // namespace troupe

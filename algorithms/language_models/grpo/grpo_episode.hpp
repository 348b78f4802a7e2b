#pragma once
// The episode of a language model: a prompt, a group of answers and their rewards. The synchronous,
// the asynchronous and the evaluation loop all run it.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/coder/code_runner.hpp"
#include "actors/llm/generator/generator.hpp"
#include "actors/metrics/training_metrics.hpp"
#include "actors/python/python_reward.hpp"
#include "actors/replay/replay_queue.hpp"
#include "actors/reward/weighted_reward.hpp"
#include "actors/text/text_world.hpp"
#include "algorithms/language_models/grpo/answer_group.hpp"
#include "algorithms/language_models/grpo/prompt_format.hpp"
#include "algorithms/language_models/grpo/prompt_source.hpp"
#include "algorithms/loops/update_gate.hpp"

namespace troupe {

using answer_judge = weighted_reward<llm::answered_problem>;

/// The services and settings of one task. It has rewards or worlds.
struct task_roles {
  service<answer_judge> rewards = {};
  service<python_reward> python_rewards = {};  ///< Used beside `rewards`, or alone.
  /// The updates of the run and the epochs of one update, for rewards in Python. Unset means that
  /// the problems have no end.
  std::int64_t updates = 0;
  std::optional<double> epochs_per_update = {};
  service<code_runner> coders = {};  ///< Runs answers on their tests before they are judged.
  service<text_world> worlds = {};   ///< Plays with the model. Then the task has no rewards.
  std::int64_t turns = 8;            ///< The number of turns after which an episode is truncated.
  grpo_outcomes_section outcomes = {};
  /// The turns that the model is shown; see grpo_world_section.
  std::optional<int> history = {};
  full_context_rule context = full_context_rule::truncate;
  int shared_turns = 0;  ///< The most turns that the episodes of a group share.
};

/// The services of an episode, and its settings.
struct answer_roles {
  service<prompt_source> prompts;
  service<llm::generator> generators;
  service<replay_queue<answer_group>> replay;
  std::vector<task_roles> tasks;  ///< Those of prompt_draw::task.

  /// Counts the episodes in worlds, their turns and the failures of worlds. A default constructed
  /// one counts nothing, as in evaluations.
  training_metrics metrics = {};

  std::shared_ptr<const prompt_format> format = {};
  std::int64_t group = 16;  ///< The number of answers to each prompt.
  std::int64_t max_completion_tokens =
      8;  ///< The most tokens in an answer, or in each turn of an episode.
  llm::sampling_options sampling = {};  ///< The seed is not used; prompts have their own.
  /// The largest number of prompts that are asked for one group, at least 1.
  int rounds = 1;
  /// True if the last round may give a group without answers, as in evaluations. Otherwise that is
  /// an error.
  bool may_be_empty = false;
  /// True if a group whose rewards are all the same is replaced by another, up to `rounds`.
  bool refill_zero_variance = false;
  /// The replies in worlds that are known by the tokens before them, for a temperature of 0 and one
  /// version of the weights. Many episodes repeat the same texts, and each is then sampled once.
  /// Null means that none are kept. Only one actor may use a map.
  std::shared_ptr<std::map<std::vector<llm::token_id>, llm::completion>> known_replies = {};
  /// Episodes wait at it while the weights are updated. Null means that they don't. It belongs to
  /// the actor of the loop.
  std::shared_ptr<loops::update_gate> gate = {};
};

/// The first half of an episode: the generators write answers to a prompt, which are not judged
/// yet. An answer with a log-probability that isn't finite is dropped and counted as "log_prob".
/// All answers are dropped and counted as "deadline" if they are not written in time.
task<answer_group> write_group(answer_roles r, prompt_draw drawn);

/// The whole episode: a prompt is drawn, and a group of answers to it is written and judged or, if
/// its task is a world, a group of episodes is played in it. At least one answer is left unless
/// may_be_empty. Besides write_group's reasons, an answer is dropped and counted as "reward" if its
/// reward throws, isn't finite or comes too late or, in Python, applies to no part or ends its
/// process, and as "coder" if its code could not be run in time; world_episode.hpp has the reasons
/// for episodes in worlds. The deadlines are those of the services. If no answer is left, or with
/// refill_zero_variance all have the same reward, another prompt is asked, `rounds` in all. The
/// last group is returned as it is if it has answers; otherwise std::runtime_error is thrown.
task<answer_group> generate_answers(answer_roles r);

namespace detail {

/// True for the first ten calls in this process: a world or a reward that fails may do so each
/// time.
bool should_tell();

/// Logs what a deadline has ended, and the option that sets the deadline.
void tell_too_late(std::string_view what, const std::exception_ptr& error);

/// Has this many answers to one prompt written. Logs it and returns none if they are not written in
/// time.
task<std::vector<llm::completion>> write_answers(const answer_roles& r,
                                                 llm::generation_request request,
                                                 std::int64_t answers);

bool has_finite_log_probs(const llm::completion& written);

}  // namespace detail

}  // namespace troupe

#pragma once
// The episode of a language model: a prompt, a group of answers, their rewards. Written once; the
// synchronous, the asynchronous and the evaluation loop all run it.

#include <memory>

#include "actors/coder/coder.hpp"
#include "actors/llm/generator/generator.hpp"
#include "actors/replay/replay_queue.hpp"
#include "actors/reward/weighted_reward.hpp"
#include "algorithms/grpo/answer_group.hpp"
#include "algorithms/grpo/grpo_subject.hpp"
#include "algorithms/grpo/prompt_source.hpp"

namespace troupe {

using answer_judge = weighted_reward<llm::answered_problem>;

struct answer_roles {
  service<prompt_source> prompts;
  service<llm::generator> generators;
  service<answer_judge> rewards;
  service<coder> coders;  ///< run answers on their tests before they are judged; of code alone
  service<replay_queue<answer_group>> replay;

  std::shared_ptr<const grpo_subject> subject;
  std::int64_t group = 16;
  std::int64_t answer_tokens = 8;
  double temperature = 1.0;  ///< 0: the likeliest tokens
  /// Prompts asked for one group until it can be trained on. At least 1.
  int rounds = 1;
  bool refill_flat = false;  ///< a group whose rewards are all the same can't be
};

/// A group with at least one answer. An answer is dropped, and counted in `dropped` by its reason,
/// where its reward throws or isn't finite ("reward"), a log-probability isn't ("log_prob"), or its
/// code could not be run, whatever it is ("coder").
/// Where no answer is left, or with refill_flat all are equally good, another prompt is asked,
/// `rounds` in all; the last group is taken as it is, if there are answers. Throws
/// std::runtime_error where there are none.
task<answer_group> generate_answers(answer_roles r);

}  // namespace troupe

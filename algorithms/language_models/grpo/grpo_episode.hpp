#pragma once
// The episode of a language model: a prompt, a group of answers, their rewards. Written once; the
// synchronous, the asynchronous and the evaluation loop all run it.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actors/coder/coder.hpp"
#include "actors/llm/generator/generator.hpp"
#include "actors/metrics/training_metrics.hpp"
#include "actors/openenv/text/text_world.hpp"
#include "actors/replay/replay_queue.hpp"
#include "actors/reward/weighted_reward.hpp"
#include "algorithms/language_models/grpo/answer_group.hpp"
#include "algorithms/language_models/grpo/grpo_subject.hpp"
#include "algorithms/language_models/grpo/prompt_source.hpp"

namespace troupe {

using answer_judge = weighted_reward<llm::answered_problem>;

struct answer_roles {
  service<prompt_source> prompts;
  service<llm::generator> generators;
  service<answer_judge> rewards;
  service<coder> coders;  ///< run answers on their tests before they are judged; of code alone
  service<replay_queue<answer_group>> replay;

  service<openenv::text_world> worlds;  ///< of play_games, which has no rewards

  /// Counts games, their moves and what their worlds fail in; a default constructed one tells
  /// nobody, as of evaluations.
  training_metrics metrics = {};

  std::shared_ptr<const grpo_subject> subject;
  std::int64_t group = 16;
  std::int64_t answer_tokens = 8;  ///< longest answer; of games each turn
  double temperature = 1.0;        ///< 0: the likeliest tokens
  /// Prompts asked for one group until it can be trained on. At least 1.
  int rounds = 1;
  bool may_be_empty = false;  ///< after these a group without an answer is no error: of an exam
  bool refill_flat = false;   ///< a group whose rewards are all the same can't be
  std::int64_t turns = 6;     ///< of a game, after which it is cut
  std::string rules;          ///< what a model that reads English is told before a game
  /// With a temperature of 0: moves by the text before them, of the weights in use. Where many
  /// games are played most texts come often, and each is asked once. Null: none is kept. Of one
  /// actor.
  std::shared_ptr<std::map<std::vector<llm::token_id>, llm::completion>> known_moves;
};

/// The first half of an episode: the answers that the generators write to a prompt, not judged yet.
/// One with a log-probability that isn't finite is dropped and counted ("log_prob"); all are where
/// they are not written in time ("deadline").
task<answer_group> write_group(answer_roles r, prompt_draw drawn);

/// The whole of one. A group with at least one answer. An answer is dropped, and counted in
/// `dropped` by its reason, as by write_group, where its reward throws, isn't finite or comes too
/// late ("reward"), and where its code could not be run in time, whatever it is ("coder"). What is
/// in time is said by the services' deadlines. Where no answer is left, or with refill_flat all are
/// equally good, another prompt is asked, `rounds` in all; the last group is taken as it is, if
/// there are answers. Throws std::runtime_error where there are none.
task<answer_group> generate_answers(answer_roles r);

namespace detail {

/// Asks until a group comes that can be trained on, as above.
task<answer_group> ask_in_rounds(const answer_roles& r,
                                 task<answer_group> (*ask)(const answer_roles&));

/// Logs what a deadline has ended, and which option has that deadline.
void tell_too_late(std::string_view what, const std::exception_ptr& error);

/// That many answers to one prompt; none, which is logged, where they are not written in time.
task<std::vector<llm::completion>> write_answers(const answer_roles& r,
                                                 llm::generation_request request,
                                                 std::int64_t answers);

bool has_finite_log_probs(const llm::completion& written);

}  // namespace detail

}  // namespace troupe

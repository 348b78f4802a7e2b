#pragma once
// The episode of a language model that plays a game. The game and the model take turns on one list
// of tokens, and sampled tokens are never encoded again.
//
//   prompt       rules, and the text of the deal              computed once for the group
//   answer       sampled | read, sampled | read, sampled      one per game; `read` isn't trained on

#include "algorithms/language_models/grpo/grpo_episode.hpp"

namespace troupe {

/// Plays a group of games that share the deal: the same seed and therefore the same prompt, so that
/// their rewards differ only by the model's moves. A move is the text of one turn. The reward of a
/// game is the sum over its turns. Games longer than `turns`, or than the model's context, are
/// truncated.
///
/// A game is dropped, and counted in `dropped` by its reason:
///   "environment"  its world failed, was lost or was not free in time
///   "deadline"     a move was not written in time
///   "deal"         its world dealt something else than that of the group's first game
///   "reward"       its reward is not finite
///   "log_prob"     a log-probability is not finite
/// If no game is left, or with refill_zero_variance all have the same reward, another deal is
/// played, as in generate_answers.
task<answer_group> play_games(answer_roles r);

}  // namespace troupe

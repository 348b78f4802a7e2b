#pragma once
// The episode of a language model that plays a game: what the game says and what the model says, in
// turns, on one list of tokens. What was sampled is never encoded again.
//
//   prompt       rules, and what the deal shows               computed once for the group
//   answer       sampled | read, sampled | read, sampled      one a game; `read` isn't trained on

#include "algorithms/language_models/grpo/grpo_episode.hpp"

namespace troupe {

/// A group of games that share the deal: the same seed, and so the same prompt; what they are worth
/// differs by what the model says alone. A move is a turn's text; a game's reward is the sum of its
/// turns'. Games that outlast `turns`, or the model's context, are cut.
///
/// A game is dropped, and counted in `dropped` by its reason, where its world fails, is lost or
/// can't be had in time ("environment"), where a move is not written in time ("deadline"), where it
/// deals something else than to the group's first game ("deal"), where its reward isn't finite
/// ("reward"), and where a log-probability isn't ("log_prob"). Where none is left, or with
/// refill_flat all are equally good, another deal is played, as by generate_answers.
task<answer_group> play_games(answer_roles r);

}  // namespace troupe

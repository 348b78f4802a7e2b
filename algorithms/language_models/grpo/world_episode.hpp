#pragma once
// Episodes of a language model in a text world. The world and the model take turns on one list of
// tokens, and sampled tokens are never encoded again.
//
//   prompt       system message, and the text of the deal     computed once for the group
//   answer       sampled | read, sampled | read, sampled      one per episode; `read` isn't trained
//                                                             on

#include "algorithms/language_models/grpo/grpo_episode.hpp"

namespace troupe::detail {

/// Plays a group of episodes that share the deal: the same seed and item and therefore the same
/// prompt, so that their rewards differ only by the model's replies. A reply is the text of one
/// turn. The reward of an episode is the sum over its turns, or that of its outcome. Episodes
/// longer than `turns`, or than the model's context, are truncated.
///
/// An episode is dropped, and counted in `dropped` by its reason:
///   "environment"  its world failed, was lost or was not free in time
///   "deadline"     a reply was not written in time
///   "deal"         its world dealt something else than that of the group's first episode
///   "reward"       its reward is not finite
///   "log_prob"     a log-probability is not finite
task<answer_group> play_group(const answer_roles& r, prompt_draw drawn);

}  // namespace troupe::detail

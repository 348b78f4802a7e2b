#pragma once
// Reward functions for a weighted_reward<text_episode>:
//
//   std::vector<reward_function<text_episode>> functions{{"world", world_return_of},
//                                                        {"format", well_formed_turns, 0.1},
//                                                        {"right", answer_is_exact}};

#include "actors/reward/text_reward.hpp"
#include "actors/text/text_episode.hpp"

namespace troupe {

/// Returns the world's own return.
inline double world_return_of(const text_episode& played) { return played.world_return; }
/// Returns the share of turns, 0 to 1, whose action was well-formed and accepted.
double well_formed_turns(const text_episode& played);
/// Returns 1 if the last answer is the expected one, by exact_match or by numeric_match, and else
/// 0.
double answer_is_exact(const text_episode& played);
double answer_is_number(const text_episode& played);
/// Returns 1 if a regular expression matches the whole of the last answer, and else 0.
struct answer_matches {
  /// The RE2 pattern; an invalid one throws std::invalid_argument at the first call.
  std::string pattern;
  double operator()(const text_episode& played) const;
};

}  // namespace troupe

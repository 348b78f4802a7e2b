#pragma once
// Functions for a weighted_reward<text_episode>:
//
//   std::vector<reward_function<text_episode>> functions{{"world", world_return_of},
//                                                        {"format", well_formed_turns, 0.1},
//                                                        {"right", answer_is_exact}};

#include "actors/reward/text_reward.hpp"
#include "actors/text/text_episode.hpp"

namespace troupe {

/// The world's own.
inline double world_return_of(const text_episode& played) { return played.world_return; }
/// The share of turns, 0 to 1, whose action was well-formed and accepted.
double well_formed_turns(const text_episode& played);
/// Whether the last answer is the expected one, as exact_match and numeric_match have it.
double answer_is_exact(const text_episode& played);
double answer_is_number(const text_episode& played);
/// Whether a regular expression matches the whole of the last answer.
struct answer_matches {
  std::string pattern;  ///< RE2's; std::invalid_argument when it is first asked, if it is none.
  double operator()(const text_episode& played) const;
};

}  // namespace troupe

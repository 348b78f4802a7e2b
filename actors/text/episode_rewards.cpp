#include "actors/text/episode_rewards.hpp"

#include <algorithm>

namespace troupe {

double well_formed_turns(const text_episode& played) {
  const auto good = std::ranges::count_if(
      played.turns, [](const text_turn& turn) { return turn.refused.empty(); });
  return static_cast<double>(good) /
         static_cast<double>(std::max<std::size_t>(1, played.turns.size()));
}

double answer_is_exact(const text_episode& played) {
  return exact_match(played.answer(), played.task.expected);
}

double answer_is_number(const text_episode& played) {
  return numeric_match(played.answer(), played.task.expected);
}

double answer_matches::operator()(const text_episode& played) const {
  return pattern_match(pattern)(played.answer());
}

}  // namespace troupe

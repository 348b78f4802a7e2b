#pragma once
// The basic strategy of Blackjack, a baseline of the examples.

#include "actors/openenv/text/blackjack_text.hpp"

namespace games {

using troupe::openenv::blackjack_hand;

/// True if the basic strategy takes a card, for rules in which the dealer stands on any 17 and
/// nobody doubles or splits.
inline bool basic_strategy_hits(const blackjack_hand& hand) {
  const auto [total, dealer, usable_ace] = hand;
  const bool is_high = dealer == 1 || dealer > 6;
  if (usable_ace) return total <= 17 || (total == 18 && (dealer >= 9 || dealer == 1));
  if (total <= 11) return true;
  if (total >= 17) return false;
  return total == 12 ? is_high || dealer < 4 : is_high;
}

}  // namespace games

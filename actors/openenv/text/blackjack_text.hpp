#pragma once
// Blackjack in words, from the observations of either kind of server.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "actors/openenv/text/text_view.hpp"

namespace troupe::openenv {

/// The facts that a player knows.
struct blackjack_hand {
  std::int64_t total = 0;   ///< the sum, with a usable ace as 11; above 21 the hand is lost
  std::int64_t dealer = 0;  ///< the dealer's card, 1 (an ace) to 10
  bool usable_ace = false;  ///< whether an ace counts as 11
};

/// Reads OpenSpiel's info_state of 189 numbers: the player's total in unary from 3 on, the dealer's
/// card from 33 on and the player's cards from 85 on, each as 52 numbers by suit and rank. Throws
/// std::invalid_argument.
blackjack_hand read_openspiel_hand(const nlohmann::json& observation);
/// Reads the "obs" of Troupe's Blackjack-v1: the total, the dealer's card, whether an ace is
/// usable. Throws std::invalid_argument.
blackjack_hand read_served_hand(const nlohmann::json& observation);

/// Returns the game, which reads both kinds of observation. Moves are HIT and STAND, or + and = in
/// letters.
text_game blackjack_game();

}  // namespace troupe::openenv

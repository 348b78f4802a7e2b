#pragma once
// Blackjack as it is told to a player, from what either kind of server shows of it.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "actors/openenv/text/text_world.hpp"

namespace troupe::openenv {

/// What a player at Blackjack knows.
struct blackjack_hand {
  std::int64_t total = 0;   ///< with a usable ace as 11; above 21 it is lost
  std::int64_t dealer = 0;  ///< the dealer's card: 1, an ace, to 10
  bool usable_ace = false;  ///< one counts as 11
};

/// From OpenSpiel's info_state of 189: the player's total in unary from 3 on, the dealer's card
/// from 33 on and the player's from 85 on, each of 52 by suit and rank. Throws
/// std::invalid_argument.
blackjack_hand read_openspiel_hand(const nlohmann::json& observation);
/// From the "obs" of Troupe's Blackjack-v1: total, dealer's card, whether an ace is usable. Throws
/// std::invalid_argument.
blackjack_hand read_served_hand(const nlohmann::json& observation);

/// Says HIT or STAND, or + and = in letters. Reads both kinds.
text_game blackjack_game();

}  // namespace troupe::openenv

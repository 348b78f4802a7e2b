#pragma once
// Games of OpenSpiel whose observation is decoded here: what a player holds and sees, in words.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "actors/openenv/text/text_view.hpp"

namespace troupe::openenv {

/// Each returns the words for an observation of the game, without the question for a move, and
/// throws std::invalid_argument for an info_state of another form. The layouts are those of
/// OpenSpiel with the default parameters of the games.
///
/// kuhn_poker: [11] the player, the card, and three bets of pass or bet.
std::string kuhn_poker_in_words(const nlohmann::json& observation);
/// leduc_poker: [30] the player, the private card, the public card, and four bets of call or raise
/// in each of two rounds.
std::string leduc_poker_in_words(const nlohmann::json& observation);
/// 2048: [16] the numbers of the tiles, row by row.
std::string game_2048_in_words(const nlohmann::json& observation);
/// cliff_walking: [400] the actions so far, which lead from the lower left corner to a place.
std::string cliff_walking_in_words(const nlohmann::json& observation);

/// Returns these games. They exist on OpenEnv's openspiel servers only. A move is its name, such as
/// RAISE, and is legal if the server says so.
std::vector<text_game> openspiel_text_games();

}  // namespace troupe::openenv

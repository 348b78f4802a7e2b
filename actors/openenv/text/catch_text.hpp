#pragma once
// Catch in words.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "actors/openenv/text/text_view.hpp"

namespace troupe::openenv {

/// The facts that a player sees: a ball that falls by one row a turn, and the paddle below it.
struct falling_ball {
  std::int64_t column = 0;  ///< the ball's column, 0 to 4
  std::int64_t height = 0;  ///< the rows above the paddle: 9 at first, 0 at the end
  std::int64_t paddle = 2;  ///< the paddle's column, 0 to 4
};

/// Reads OpenSpiel's info_state of catch: 10 rows of 5 columns, with the paddle in the last row.
/// Throws std::invalid_argument if there is no ball or no paddle.
falling_ball read_openspiel_ball(const nlohmann::json& observation);

/// Returns the game, which exists on OpenEnv's openspiel servers only. Moves are LEFT, STAY and
/// RIGHT, or -, = and + in letters.
text_game catch_game();

}  // namespace troupe::openenv

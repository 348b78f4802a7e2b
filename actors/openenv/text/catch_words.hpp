#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "actors/openenv/text/text_world.hpp"

namespace troupe::openenv {

/// What a player at Catch sees: a ball that falls by a row a turn, and the paddle below it.
struct falling_ball {
  std::int64_t column = 0;  ///< 0 to 4
  std::int64_t height = 0;  ///< rows above the paddle's: 9 at first, 0 at the end
  std::int64_t paddle = 2;  ///< its column
};

/// From OpenSpiel's info_state of catch: 10 rows of 5 columns, the paddle in the last. Throws
/// std::invalid_argument for what has no ball or no paddle.
falling_ball read_openspiel_ball(const nlohmann::json& observation);

/// Says LEFT, STAY or RIGHT, or - = + in letters. On servers alone.
text_game catch_game();

}  // namespace troupe::openenv

#pragma once
// Games on a board as they are told to a player, from what either kind of server shows of them.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "actors/openenv/text/text_world.hpp"
#include "actors/worlds/board_games/line_game.hpp"

namespace troupe::openenv {

/// A board as its player sees it.
struct seen_board {
  std::vector<mark> cells;                    ///< [rows * columns]
  std::optional<std::int64_t> opponent_last;  ///< its last move
};

/// From OpenSpiel's info_state, three planes of cells, of which `empty_plane` is that of free ones
/// (0 in tic_tac_toe, 2 in connect_four). Whose the others are is told by the opponent's last move,
/// else by current_player_id. Throws std::invalid_argument.
seen_board read_openspiel_board(const line_game_options& game, std::size_t empty_plane,
                                const nlohmann::json& observation);
/// From the "obs" of Troupe's line_game. Throws std::invalid_argument.
seen_board read_served_board(const line_game_options& game, const nlohmann::json& observation);

/// tic_tac_toe. In letters the board: a own, b the opponent's, digits free cells. A move is a cell.
text_game tic_tac_toe_game();
/// connect_four. In letters the opponent's last move alone: 42 cells a turn are too many for the
/// letters model's context. A move is a column.
text_game connect_four_game();

}  // namespace troupe::openenv

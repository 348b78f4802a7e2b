#pragma once
// Board games in words, from the observations of either kind of server.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "actors/openenv/text/text_view.hpp"
#include "actors/worlds/board_games/line_game.hpp"

namespace troupe::openenv {

/// A board from the player's point of view.
struct seen_board {
  std::vector<mark> cells;                    ///< [rows * columns]
  std::optional<std::int64_t> opponent_last;  ///< the opponent's last move
};

/// Reads OpenSpiel's info_state, three planes of cells. `empty_plane` is the plane of the free
/// cells (0 in tic_tac_toe, 2 in connect_four). The opponent's last move, or else
/// current_player_id, tells which plane is the opponent's. Throws std::invalid_argument.
seen_board read_openspiel_board(const line_game_options& game, std::size_t empty_plane,
                                const nlohmann::json& observation);
/// Reads the "obs" of Troupe's line_game. Throws std::invalid_argument.
seen_board read_served_board(const line_game_options& game, const nlohmann::json& observation);

/// Returns tic_tac_toe. A move is a cell. In letters the board has a for an own mark, b for the
/// opponent's and a digit for a free cell.
text_game tic_tac_toe_game();
/// Returns connect_four. A move is a column. Letters contain only the opponent's last move, because
/// 42 cells a turn are too many for the context of the letters model.
text_game connect_four_game();

}  // namespace troupe::openenv

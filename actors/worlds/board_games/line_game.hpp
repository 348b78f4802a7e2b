#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/environments/env_state.hpp"
#include "actors/environments/environment.hpp"

namespace troupe {

struct line_game_options {
  std::string id = "TicTacToe-v0";
  std::int64_t rows = 3, columns = 3;
  std::int64_t line = 3;  ///< marks in a row, column or diagonal that win
  bool falls = false;     ///< a move is a column, and its mark falls to the lowest free row: 0
};

/// Connect four: 6 rows of 7 columns.
line_game_options connect_four_options();

/// Whose mark a cell of a board has.
enum class mark : std::int64_t { none = 0, own = 1, opponent = 2 };

/// Two players put marks on a board by turns, and who first has a line of them wins: tic-tac-toe,
/// connect four. Cells and moves are numbered as OpenSpiel's,
/// https://github.com/google-deepmind/open_spiel: row by row, a move is a cell or a column. The
/// opponent moves second, to any legal move alike, drawn from the seed: the same seed and the same
/// moves get the same replies.
///
/// Observation, one-hot: each cell's `mark` (3), and the opponent's last move (one more than there
/// are moves, which is none). Reward at the end: 1, 0 or -1; what is no legal move ends it with -1.
class line_game final : public environment {
 public:
  line_game() : line_game(line_game_options{}) {}
  /// Throws std::invalid_argument for a board without a cell, or of more than 4096.
  explicit line_game(line_game_options options);

  env_spec spec() const override;
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  /// Throws std::invalid_argument for a number that is no move's.
  step_result step(action_view action, std::span<float> obs) override;

  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

  /// How many moves have a number.
  static std::int64_t moves(const line_game_options& game) {
    return game.falls ? game.columns : game.rows * game.columns;
  }
  /// The legal ones on a board [rows * columns] where the game goes on, in order.
  static std::vector<std::int64_t> legal_moves(const line_game_options& game,
                                               std::span<const mark> cells);

  std::span<const mark> cells() const { return cells_; }
  /// None before its first.
  std::optional<std::int64_t> opponent_last() const;

 private:
  /// A legal move. Whether it ends the game by a line.
  bool put(std::int64_t move, mark whose);
  bool has_line_through(std::int64_t cell) const;
  void show(std::span<float> obs) const;

  line_game_options options_;
  std::vector<mark> cells_;
  std::int64_t opponent_last_ = 0;  // moves(options_): none
  detail::env_random random_;
};

}  // namespace troupe

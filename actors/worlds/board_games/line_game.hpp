#pragma once
// The environments TicTacToe-v0 and ConnectFour-v0.

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
  std::int64_t line = 3;  ///< The length of the row, column or diagonal that wins.
  bool falls = false;     ///< A move is a column; the mark falls to the lowest free row, row 0.
};

/// Returns the options of connect four: 6 rows of 7 columns.
line_game_options connect_four_options();

/// The owner of the mark in a cell of the board.
enum class mark : std::int64_t { none = 0, own = 1, opponent = 2 };

/// Two players put marks on a board in turn, and the first to have a line of them wins:
/// tic-tac-toe, connect four. Cells and moves are numbered row by row, as in OpenSpiel,
/// https://github.com/google-deepmind/open_spiel. A move is a cell or a column. The opponent moves
/// second and draws uniformly from the legal moves. Its draws come from the seed: the same seed and
/// the same moves get the same replies.
///
/// Observation, one-hot: each cell's `mark` (3), and the opponent's last move (one more than there
/// are moves; the last value means no move). Reward at the end: 1, 0 or -1. An illegal move ends
/// the game with -1.
class line_game final : public environment {
 public:
  line_game() : line_game(line_game_options{}) {}
  /// Throws std::invalid_argument for a board without a cell, or with more than 4096 cells.
  explicit line_game(line_game_options options);

  env_spec spec() const override;
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  /// Throws std::invalid_argument for a number outside 0 .. moves - 1.
  step_result step(action_view action, std::span<float> obs) override;
  bool render(canvas& on) const override;

  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

  /// Returns the number of moves, legal or not.
  static std::int64_t moves(const line_game_options& game) {
    return game.falls ? game.columns : game.rows * game.columns;
  }
  /// Returns the legal moves, sorted, on a board [rows * columns] where the game goes on.
  static std::vector<std::int64_t> legal_moves(const line_game_options& game,
                                               std::span<const mark> cells);

  std::span<const mark> cells() const { return cells_; }
  /// Returns the opponent's last move, or nullopt before its first one.
  std::optional<std::int64_t> opponent_last() const;

 private:
  /// Makes a legal move. Returns whether it completes a line.
  bool put(std::int64_t move, mark whose);
  bool has_line_through(std::int64_t cell) const;
  void show(std::span<float> obs) const;

  line_game_options options_;
  std::vector<mark> cells_;
  std::int64_t opponent_last_ = 0;  // equal to moves(options_) before the opponent's first move
  detail::env_random random_;
};

}  // namespace troupe

#include "actors/openenv/text/board_text.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "actors/openenv/text/move_text.hpp"
#include "actors/openenv/text/observation_list.hpp"

namespace troupe::openenv {

using nlohmann::json;

namespace {

constexpr std::size_t planes = 3;

struct board_game {
  line_game_options rules;
  std::size_t empty_plane;  // the plane of free cells in OpenSpiel's info_state
};

std::size_t cells_of(const line_game_options& game) {
  return static_cast<std::size_t>(game.rows * game.columns);
}

/// Returns the number under `key`, or nullopt if there is none.
std::optional<std::int64_t> number_at(const json& observation, const char* key) {
  const auto found = observation.find(key);
  if (found == observation.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

/// Returns the cell of a player's last move, or nullopt if it has no mark.
std::optional<std::size_t> cell_of_last(const line_game_options& game, std::int64_t move,
                                        const std::vector<bool>& taken) {
  if (move < 0 || move >= line_game::moves(game)) return std::nullopt;
  std::optional<std::size_t> cell;
  const auto step = game.falls ? static_cast<std::size_t>(game.columns) : taken.size();
  for (auto at = static_cast<std::size_t>(move); at < taken.size() && taken[at]; at += step)
    cell = at;
  return cell;
}

seen_board read(const board_game& game, const json& observation) {
  return is_openspiel(observation) ? read_openspiel_board(game.rules, game.empty_plane, observation)
                                   : read_served_board(game.rules, observation);
}

/// Returns the text of a cell. A free cell that is a move is its number.
std::string cell_word(const line_game_options& game, std::size_t cell, mark of, const char* own,
                      const char* opponent) {
  if (of == mark::own) return own;
  if (of == mark::opponent) return opponent;
  return game.falls ? "." : std::to_string(cell);
}

/// Returns the board as text. Connect four begins with the highest row and ends with the numbers of
/// the columns.
std::string picture(const line_game_options& game, const seen_board& board) {
  std::string lines;
  for (std::int64_t i = 0; i < game.rows; ++i) {
    const auto row = game.falls ? game.rows - 1 - i : i;
    for (std::int64_t column = 0; column < game.columns; ++column) {
      const auto cell = static_cast<std::size_t>(row * game.columns + column);
      lines += cell_word(game, cell, board.cells[cell], "X", "O");
      lines += column + 1 < game.columns ? ' ' : '\n';
    }
  }
  for (std::int64_t column = 0; game.falls && column < game.columns; ++column)
    lines += fmt::format("{}{}", column, column + 1 < game.columns ? ' ' : '\n');
  return lines;
}

std::string in_letters(const line_game_options& game, const seen_board& board) {
  std::string letters;
  if (game.falls) {
    if (board.opponent_last) letters = std::to_string(*board.opponent_last);
  } else {
    for (std::size_t i = 0; i < board.cells.size(); ++i)
      letters += cell_word(game, i, board.cells[i], "a", "b");
  }
  return letters + '>';
}

wording tell(const line_game_options& game, const seen_board& board) {
  const auto legal = line_game::legal_moves(game, board.cells);
  return {.words = fmt::format("{}You are X. Which {}: {}?", picture(game, board),
                               game.falls ? "column" : "cell", fmt::join(legal, ", ")),
          .letters = in_letters(game, board)};
}

/// Returns the number that was said, or nullopt if it is no number.
std::optional<std::int64_t> said_number(std::string_view said) {
  const auto word = move_text(said);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

std::optional<json> act(const board_game& game, const json& observation, std::string_view said) {
  const auto move = said_number(said);
  if (!move) return std::nullopt;
  const auto legal = line_game::legal_moves(game.rules, read(game, observation).cells);
  if (std::ranges::find(legal, *move) == legal.end()) return std::nullopt;
  return json{{is_openspiel(observation) ? "action_id" : "action", *move}};
}

/// Returns a whole game of Troupe's own environment, in which both players make random legal moves.
std::vector<dialogue_turn> practise(const board_game& game, action_random& random) {
  line_game played(game.rules);
  std::vector<float> obs(played.spec().observation_space.flat_size());
  played.reset(random.next(), obs);
  std::vector<dialogue_turn> turns;
  for (bool ended = false; !ended;) {
    const auto legal = line_game::legal_moves(game.rules, played.cells());
    const auto move = legal[random.below(legal.size())];
    const auto word = std::to_string(move);
    const seen_board now{{played.cells().begin(), played.cells().end()}, played.opponent_last()};
    turns.push_back({tell(game.rules, now), {word, word}});
    ended = played.step(action_view(move), obs).terminated;
  }
  return turns;
}

text_view view_of(const board_game& game, std::string rules) {
  return {
      .rules = std::move(rules),
      .show = [game](const json& observation) { return tell(game.rules, read(game, observation)); },
      .act = [game](const json& observation,
                    std::string_view said) { return act(game, observation, said); },
      .practise = [game](action_random& random) { return practise(game, random); }};
}

}  // namespace

seen_board read_openspiel_board(const line_game_options& game, std::size_t empty_plane,
                                const json& observation) {
  const auto cells = cells_of(game);
  const auto& tensor = list_of(game.id, observation, "info_state", planes * cells);
  const auto has = [&](std::size_t plane, std::size_t cell) {
    return tensor[plane * cells + cell].get<float>() > 0;
  };
  std::vector<bool> taken(cells);
  for (std::size_t i = 0; i < cells; ++i) taken[i] = !has(empty_plane, i);

  seen_board seen{.cells = std::vector<mark>(cells),
                  .opponent_last = number_at(observation, "opponent_last_action")};
  // One of the other two planes is the opponent's. Releases of OpenSpiel differ in which one, but
  // on the player's turn the opponent's last mark tells it.
  const auto first = empty_plane == 0 ? std::size_t{1} : 0, second = first + 1;
  const auto player = number_at(observation, "current_player_id").value_or(0);
  auto theirs = (empty_plane == 0) == (player != 1) ? first : second;
  if (seen.opponent_last && player >= 0) {
    const auto last = cell_of_last(game, *seen.opponent_last, taken);
    if (last) theirs = has(first, *last) ? first : second;
  }
  for (std::size_t i = 0; i < cells; ++i) {
    if (taken[i]) seen.cells[i] = has(theirs, i) ? mark::opponent : mark::own;
  }
  return seen;
}

seen_board read_served_board(const line_game_options& game, const json& observation) {
  const auto cells = cells_of(game);
  const auto& obs = list_of(game.id, observation, "obs", cells + 1);
  seen_board seen;
  for (std::size_t i = 0; i < cells; ++i) {
    const auto number = obs[i].get<std::int64_t>();
    if (number < 0 || number > 2)
      throw std::invalid_argument(
          fmt::format("{}: obs: expected cells of 0 to 2, got {}", game.id, obs.dump()));
    seen.cells.push_back(static_cast<mark>(number));
  }
  const auto last = obs[cells].get<std::int64_t>();
  if (last < line_game::moves(game)) seen.opponent_last = last;
  return seen;
}

text_game tic_tac_toe_game() {
  const board_game game{.rules = {}, .empty_plane = 0};
  return {
      .name = "tic_tac_toe",
      .what = "three in a line, against an opponent at random",
      .environment = game.rules.id,
      .turns = 5,
      .view = view_of(game,
                      "Tic-tac-toe: three of your marks in a row, column or diagonal win. You "
                      "are X, the opponent is O, free cells are numbers. Answer with the number "
                      "of a free cell alone.")};
}

text_game connect_four_game() {
  const board_game game{.rules = connect_four_options(), .empty_plane = 2};
  return {.name = "connect_four",
          .what = "four in a line, against an opponent at random",
          .environment = game.rules.id,
          .turns = 21,
          .view = view_of(game,
                          "Connect four: a disc falls to the lowest free cell of its column, and "
                          "four of yours in a row, column or diagonal win. You are X, the opponent "
                          "is O. Answer with the number of a column alone.")};
}

}  // namespace troupe::openenv

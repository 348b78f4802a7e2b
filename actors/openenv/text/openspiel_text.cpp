#include "actors/openenv/text/openspiel_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "actors/openenv/text/move_text.hpp"
#include "actors/openenv/text/observation_list.hpp"

namespace troupe::openenv {

using nlohmann::json;

namespace {

/// The part of an info_state from one index on.
struct one_hot {
  const json& tensor;
  std::size_t from, size;

  std::optional<std::size_t> set() const {
    for (std::size_t i = 0; i < size; ++i)
      if (tensor[from + i].get<float>() > 0) return i;
    return std::nullopt;
  }
};

std::size_t required(const one_hot& of, std::string_view game, const char* what) {
  const auto found = of.set();
  if (!found)
    throw std::invalid_argument(
        fmt::format("{}: info_state: expected {}, got {}", game, what, of.tensor.dump()));
  return *found;
}

/// Says who has bet what: "you called, the opponent raised". Player 0 begins, and players
/// alternate.
std::string bets_in_words(const json& tensor, std::size_t from, std::size_t bets,
                          std::size_t player, const std::array<const char*, 2>& done) {
  std::string words;
  for (std::size_t i = 0; i < bets; ++i) {
    const auto bet = one_hot{tensor, from + 2 * i, 2}.set();
    if (!bet) break;
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ",
                         i % 2 == player ? "you" : "the opponent", done[*bet]);
  }
  return words.empty() ? "nobody has bet" : words;
}

// ---- Games with moves that have names.

struct named_game {
  std::string name, what, rules;
  int turns;
  std::vector<std::string> moves;  ///< In the order of OpenSpiel's numbers.
  std::function<std::string(const json&)> told;
};

std::vector<std::size_t> legal_moves(const named_game& game, const json& observation) {
  std::vector<std::size_t> legal;
  const auto found = observation.find("legal_actions");
  if (found == observation.end() || !found->is_array()) return legal;
  for (const auto& each : *found) {
    if (!each.is_number_integer() || each < 0 || each >= game.moves.size())
      throw std::invalid_argument(
          fmt::format("{}: legal_actions: expected numbers below {}, got {}", game.name,
                      game.moves.size(), found->dump()));
    legal.push_back(each.get<std::size_t>());
  }
  return legal;
}

wording show_named(const named_game& game, const json& observation) {
  std::string words = game.told(observation);
  const auto legal = legal_moves(game, observation);
  for (std::size_t i = 0; i < legal.size(); ++i) {
    words += i == 0 ? " " : i + 1 == legal.size() ? " or " : ", ";
    words += game.moves[legal[i]];
  }
  if (!legal.empty()) words += '?';
  return {.words = std::move(words)};
}

std::optional<json> act_named(const named_game& game, const json& observation,
                              std::string_view said) {
  const auto word = move_text(said);
  for (const auto move : legal_moves(game, observation))
    if (word == move_text(game.moves[move])) return json{{"action_id", move}};
  return std::nullopt;
}

text_game game_of(const named_game& game) {
  return {.name = game.name,
          .what = game.what,
          .environment = "",
          .turns = game.turns,
          .view = {.rules = game.rules,
                   .show = [game](const json& seen) { return show_named(game, seen); },
                   .act = [game](const json& seen,
                                 std::string_view said) { return act_named(game, seen, said); },
                   .practise = nullptr}};
}

constexpr std::array kuhn_cards{"jack", "queen", "king"};
constexpr std::size_t leduc_suits = 2;
constexpr std::size_t tiles_side = 4;
constexpr std::int64_t cliff_columns = 8, cliff_rows = 4;
constexpr std::size_t cliff_steps = 100;

}  // namespace

std::string kuhn_poker_in_words(const json& observation) {
  constexpr std::size_t players = 2, cards = 3, bets = 3;
  const auto& tensor = list_of("kuhn_poker", observation, "info_state", 11);
  const auto player = required({tensor, 0, players}, "kuhn_poker", "a player");
  const auto card = required({tensor, players, cards}, "kuhn_poker", "a card");
  return fmt::format("You hold the {}. So far: {}.", kuhn_cards[card],
                     bets_in_words(tensor, players + cards, bets, player, {"passed", "bet"}));
}

std::string leduc_poker_in_words(const json& observation) {
  constexpr std::size_t players = 2, cards = 6, bets = 4;
  const auto& tensor = list_of("leduc_poker", observation, "info_state", 30);
  const auto player = required({tensor, 0, players}, "leduc_poker", "a player");
  const auto card = required({tensor, players, cards}, "leduc_poker", "a card");
  const auto shared = one_hot{tensor, players + cards, cards}.set();
  const auto first_round = players + 2 * cards;
  const auto round = [&](std::size_t from) {
    return bets_in_words(tensor, from, bets, player, {"called", "raised"});
  };
  auto words = fmt::format("You hold a {}. Round 1: {}.", kuhn_cards[card / leduc_suits],
                           round(first_round));
  if (shared)
    words += fmt::format(" The public card is a {}. Round 2: {}.",
                         kuhn_cards[*shared / leduc_suits], round(first_round + 2 * bets));
  return words;
}

std::string game_2048_in_words(const json& observation) {
  const auto& tensor = list_of("2048", observation, "info_state", tiles_side * tiles_side);
  std::string words;
  for (std::size_t i = 0; i < tensor.size(); ++i) {
    const auto tile = tensor[i].get<std::int64_t>();
    words += tile == 0 ? "." : std::to_string(tile);
    words += (i + 1) % tiles_side == 0 ? '\n' : ' ';
  }
  return words + "The move:";
}

std::string cliff_walking_in_words(const json& observation) {
  constexpr std::size_t moves = 4;
  constexpr std::array<std::int64_t, moves> right{1, 0, -1, 0}, down{0, -1, 0, 1};
  const auto& tensor = list_of("cliff_walking", observation, "info_state", cliff_steps * moves);
  std::int64_t row = cliff_rows - 1, column = 0;
  std::size_t steps = 0;
  for (; steps < cliff_steps; ++steps) {
    const auto move = one_hot{tensor, steps * moves, moves}.set();
    if (!move) break;
    row = std::clamp<std::int64_t>(row + down[*move], 0, cliff_rows - 1);
    column = std::clamp<std::int64_t>(column + right[*move], 0, cliff_columns - 1);
  }
  return fmt::format("You are in row {} of {} and column {} of {}, after {} of {} steps.", row + 1,
                     cliff_rows, column + 1, cliff_columns, steps, cliff_steps);
}

std::vector<text_game> openspiel_text_games() {
  return {
      game_of({"2048",
               "slide equal numbers together",
               "2048: a move slides all tiles, and equal ones that meet become one of their sum, "
               "which is the reward. Answer with UP, RIGHT, DOWN or LEFT alone.",
               1000,
               {"UP", "RIGHT", "DOWN", "LEFT"},
               game_2048_in_words}),
      game_of({"cliff_walking",
               "walk to the goal, past a cliff",
               "Cliff walking: walk from the lower left corner, row 4 and column 1, to the lower "
               "right one, row 4 and column 8. Each step costs 1. The cells of row 4 between them "
               "are a cliff, which costs 100 and ends the walk. UP leads to row 3. Answer with "
               "RIGHT, UP, LEFT or DOWN alone.",
               100,
               {"RIGHT", "UP", "LEFT", "DOWN"},
               cliff_walking_in_words}),
      game_of(
          {"kuhn_poker",
           "poker with three cards, against an opponent at random",
           "Kuhn poker: each of two players has one card of jack, queen and king, and has put 1 "
           "into the pot. A bet adds 1; who passes after a bet has lost the pot, else the "
           "higher card wins it. Answer with PASS or BET alone.",
           2,
           {"PASS", "BET"},
           kuhn_poker_in_words}),
      game_of(
          {"leduc_poker",
           "poker with six cards, against an opponent at random",
           "Leduc poker: each of two players has one card of two jacks, two queens and two "
           "kings, and has put 1 into the pot. A raise adds 2 in round 1 and 4 in round 2, with "
           "two raises a round at most. Then a public card is shown. A card equal to it wins, "
           "else the higher one. Answer with FOLD, CALL or RAISE alone.",
           4,
           {"FOLD", "CALL", "RAISE"},
           leduc_poker_in_words}),
  };
}

}  // namespace troupe::openenv

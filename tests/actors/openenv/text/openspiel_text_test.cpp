#include "actors/openenv/text/openspiel_text.hpp"

#include <nlohmann/json.hpp>

#include "actors/openenv/text/text_view.hpp"
#include "tests/test.hpp"

namespace troupe::openenv {
namespace {

using Catch::Contains;
using nlohmann::json;

// The tensors are those of OpenSpiel 2.0 for these states.

json info_state_of(std::vector<int> info_state, std::vector<int> legal) {
  return {{"info_state", std::move(info_state)}, {"legal_actions", std::move(legal)}};
}

std::string words_shown(const char* game, const json& observation) {
  return find_text_game(game)->view.show(observation).words;
}

TEST_CASE("games in words: kuhn poker tells the card and the bets") {
  CHECK(words_shown("kuhn_poker", info_state_of({1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 1})) ==
        "You hold the jack. So far: nobody has bet. PASS or BET?");
  CHECK(words_shown("kuhn_poker", info_state_of({0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0}, {0, 1})) ==
        "You hold the queen. So far: the opponent bet. PASS or BET?");
  CHECK(words_shown("kuhn_poker", info_state_of({1, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0}, {0, 1})) ==
        "You hold the king. So far: you passed, the opponent bet. PASS or BET?");
  CHECK_THROWS_WITH(words_shown("kuhn_poker", info_state_of({1, 0}, {0})),
                    Contains("a list of 11 numbers"));
  CHECK_THROWS_WITH(
      words_shown("kuhn_poker", info_state_of({1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0})),
      Contains("expected a card"));
}

TEST_CASE("games in words: leduc poker tells both cards and the bets of both rounds") {
  CHECK(words_shown("leduc_poker", info_state_of({1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                                  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                                 {1, 2})) ==
        "You hold a jack. Round 1: nobody has bet. CALL or RAISE?");
  CHECK(words_shown("leduc_poker", info_state_of({0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1,
                                                  0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                                 {0, 1})) ==
        "You hold a king. Round 1: the opponent called, you raised, the opponent raised. FOLD or "
        "CALL?");
  CHECK(words_shown("leduc_poker", info_state_of({1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1,
                                                  0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                                 {})) ==
        "You hold a jack. Round 1: you called, the opponent raised, you raised, the opponent "
        "called. The public card is a jack. Round 2: nobody has bet.");
}

TEST_CASE("games in words: 2048 shows its board, and cliff walking the place") {
  CHECK(words_shown("2048",
                    info_state_of({0, 2, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 4, 0, 0, 0}, {0, 1, 3})) ==
        ". 2 . .\n. . . .\n8 . . .\n4 . . .\nThe move: UP, RIGHT or LEFT?");
  std::vector<int> walk(400);
  CHECK(words_shown("cliff_walking", info_state_of(walk, {0, 1, 2, 3})) ==
        "You are in row 4 of 4 and column 1 of 8, after 0 of 100 steps. RIGHT, UP, LEFT or DOWN?");
  walk[1] = walk[5] = walk[10] = walk[12] = 1;  // up, up, left into the wall, right
  CHECK_THAT(words_shown("cliff_walking", info_state_of(walk, {0})),
             Contains("row 2 of 4 and column 2 of 8"));
}

TEST_CASE("games in words: a move is a legal one's name") {
  const auto& leduc = find_text_game("leduc_poker")->view;
  std::vector<int> state(30);
  state[0] = state[2] = 1;
  CHECK(leduc.act(info_state_of(state, {0, 1}), " Fold.\n") == json{{"action_id", 0}});
  CHECK(leduc.act(info_state_of(state, {1, 2}), "raise") == json{{"action_id", 2}});
  for (const auto* none : {"fold", "", "2", "call it"})
    CHECK(leduc.act(info_state_of(state, {1, 2}), none) == std::nullopt);
  CHECK_THROWS_WITH(leduc.show(info_state_of(state, {3})), Contains("expected numbers below 3"));
  CHECK(find_text_game("2048")->view.act(info_state_of(std::vector<int>(16), {3}), "LEFT") ==
        json{{"action_id", 3}});
}

TEST_CASE("games in words: a game without practice has no letters") {
  CHECK_FALSE(text_environment_of(*find_text_game("leduc_poker"), {}).has_letters);
  CHECK(text_environment_of(*find_text_game("catch"), {}).has_letters);
}

}  // namespace
}  // namespace troupe::openenv

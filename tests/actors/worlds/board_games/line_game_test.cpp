#include "actors/worlds/board_games/line_game.hpp"

#include <array>
#include <set>

#include "actors/checkpoint/state.hpp"
#include "actors/worlds/registry.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

/// One game, and what is seen of it.
struct played {
  explicit played(line_game_options options = {}, std::uint64_t seed = 1)
      : game(std::move(options)), obs(game.spec().observation_space.flat_size()) {
    game.reset(seed, obs);
  }
  step_result put(std::int64_t move) { return game.step(action_view(move), obs); }
  mark at(std::size_t cell) const { return game.cells()[cell]; }

  line_game game;
  std::vector<float> obs;
};

/// The reward of a game of moves at random, which the generator of the game itself doesn't draw.
double play_at_random(line_game& game, std::span<float> obs, const line_game_options& rules,
                      numpy_random& random) {
  for (;;) {
    const auto legal = line_game::legal_moves(rules, game.cells());
    const auto result = game.step(action_view(random.choice(std::span(legal))), obs);
    if (result.terminated) return result.reward;
  }
}

TEST_CASE("line_game: the board that is shown is the board that is played", "[env]") {
  played one;
  CHECK(one.game.spec().observation_space.get_if<spaces::tuple>()->parts.size() == 10);
  CHECK(one.game.opponent_last() == std::nullopt);
  CHECK(one.obs.back() == 1);
  const auto result = one.put(4);
  CHECK_FALSE(result.terminated);
  CHECK(result.reward == 0);
  CHECK(one.at(4) == mark::own);
  const auto reply = one.game.opponent_last().value();
  REQUIRE(reply != 4);
  CHECK(one.at(std::size_t(reply)) == mark::opponent);
  for (std::size_t cell = 0; cell < 9; ++cell) {
    for (std::size_t of = 0; of < 3; ++of)
      CHECK(one.obs[3 * cell + of] == (std::size_t(one.at(cell)) == of));
  }
  for (std::int64_t move = 0; move <= 9; ++move)
    CHECK(one.obs[std::size_t(27 + move)] == (move == reply));
  CHECK(line_game::legal_moves({}, one.game.cells()).size() == 7);
}

TEST_CASE("line_game: what is no legal move loses, and what is no move is an error", "[env]") {
  played one;
  one.put(4);
  const auto result = one.put(4);
  CHECK(result.terminated);
  CHECK(result.reward == -1);
  CHECK_THROWS_WITH(played().put(9),
                    Catch::Contains("TicTacToe-v0: expected an action of 0 to 8, got 9"));
  CHECK_THROWS_WITH(line_game({.rows = 100, .columns = 100}), Catch::Contains("100 x 100"));
}

/// Whether these moves win connect four against any opponent of many that isn't in the way.
bool can_win(std::initializer_list<std::int64_t> moves) {
  for (std::uint64_t seed = 1; seed < 2000; ++seed) {
    played one(connect_four_options(), seed);
    step_result last;
    for (const auto move : moves) {
      last = one.put(move);
      if (last.terminated) break;
    }
    if (last.terminated && last.reward == 1) return true;
  }
  return false;
}

TEST_CASE("line_game: marks fall, and lines count in every direction", "[env]") {
  played one(connect_four_options());
  one.put(3);
  CHECK(one.at(3) == mark::own);
  CHECK(can_win({0, 0, 0, 0}));
  CHECK(can_win({2, 3, 4, 5}));
  CHECK_FALSE(can_win({0, 0, 0}));
  CHECK_FALSE(can_win({0, 1, 2}));
}

TEST_CASE("line_game: who has three in a line has won, at any place of the board", "[env]") {
  const std::array<std::array<std::size_t, 3>, 8> lines{
      {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}}};
  numpy_random random(3);
  played one;
  std::set<std::pair<std::size_t, double>> seen;
  int won = 0, drawn = 0;
  constexpr int games = 4000;
  for (int i = 0; i < games; ++i) {
    one.game.reset(std::nullopt, one.obs);
    const auto reward = play_at_random(one.game, one.obs, {}, random);
    won += reward == 1;
    drawn += reward == 0;
    double expected = 0;
    for (std::size_t line = 0; line < lines.size(); ++line) {
      const auto& [a, b, c] = lines[line];
      if (one.at(a) == mark::none || one.at(a) != one.at(b) || one.at(b) != one.at(c)) continue;
      expected = one.at(a) == mark::own ? 1 : -1;
      seen.emplace(line, expected);
    }
    REQUIRE(reward == expected);
    if (reward == 0) REQUIRE(line_game::legal_moves({}, one.game.cells()).empty());
  }
  CHECK(seen.size() == 16);
  // Who moves first wins 58.5 % of games at random, and 12.7 % are drawn.
  CHECK(std::abs(won / double(games) - 0.585) < 0.025);
  CHECK(std::abs(drawn / double(games) - 0.127) < 0.02);
}

TEST_CASE("line_game: the same seed and moves get the same replies, and it goes on from a save",
          "[env]") {
  const auto replies = [](std::uint64_t seed) {
    played one(connect_four_options(), seed);
    std::vector<std::int64_t> seen;
    for (const std::int64_t move : {0, 2, 4, 6, 1}) {
      if (one.put(move).terminated) break;
      seen.push_back(*one.game.opponent_last());
    }
    return seen;
  };
  CHECK(replies(5) == replies(5));
  CHECK(replies(5) != replies(6));

  played one(connect_four_options(), 5), other(connect_four_options(), 6);
  one.put(3);
  state_writer saved;
  REQUIRE(one.game.save(saved));
  const auto bytes = saved.bytes();
  other.game.restore(state_reader(bytes));
  for (int i = 0; i < 3; ++i) {
    one.put(2 + i);
    other.put(2 + i);
    CHECK(one.obs == other.obs);
  }
  CHECK_THROWS_AS(line_game().restore(state_reader(bytes)), state_error);
}

TEST_CASE("line_game: both games are known by name", "[env]") {
  CHECK(make_vector_environment("TicTacToe-v0", 2)->spec().id == "TicTacToe-v0");
  CHECK(to_string(make_vector_environment("ConnectFour-v0", 1)->spec().action_space) ==
        "Discrete(7)");
}

}  // namespace
}  // namespace troupe

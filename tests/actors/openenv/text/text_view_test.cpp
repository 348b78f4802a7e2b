#include "actors/openenv/text/text_view.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "actors/openenv/server/local_world.hpp"
#include "actors/openenv/server/server.hpp"
#include "actors/text/text_world.hpp"
#include "actors/worlds/registry.hpp"
#include "runtime/system/system.hpp"
#include "tests/actors/openenv/protocol/recorded_session.hpp"
#include "tests/test.hpp"

namespace troupe::openenv {
namespace {

using nlohmann::json;

/// OpenSpiel's tensor for these cards of the player's and the dealer's, by rank from 0, an ace.
json openspiel_table(std::vector<int> own, int dealer, int total) {
  std::vector<double> tensor(189, 0.0);
  for (int i = 0; i < total; ++i) tensor[std::size_t(4 + i)] = 1;
  tensor[std::size_t(33 + dealer)] = 1;
  for (const int card : own) tensor[std::size_t(85 + card)] = 1;
  return {{"info_state", tensor}, {"legal_actions", {0, 1}}};
}

TEST_CASE("blackjack in words: what both kinds of server show") {
  const auto& view = find_text_game("blackjack")->view;
  const json served{{"obs", {14, 6, 0}}};
  CHECK(view.show(served).words == "You have 14, the dealer shows 6. HIT or STAND?");
  CHECK(view.show(served).letters == "14d6>");
  const json soft{{"obs", {18, 1, 1}}};
  CHECK(view.show(soft).words == "You have a soft 18, the dealer shows an ace. HIT or STAND?");
  CHECK(view.show(soft).letters == "a18d1>");
  CHECK(view.show(openspiel_table({4, 8}, 5, 14)) == view.show(served));
  CHECK(view.show(openspiel_table({0, 6}, 13, 18)) == view.show(soft));
  CHECK_THROWS_WITH(view.show({{"obs", {14, 6}}}), Catch::Contains("expected a list of 3 numbers"));
  CHECK_THROWS_WITH(view.show({{"board", 1}}), Catch::Contains("blackjack: obs"));
}

TEST_CASE("blackjack in words: a move is one word, in either way, and nothing else") {
  const auto& view = find_text_game("blackjack")->view;
  const json served{{"obs", {14, 6, 0}}}, openspiel = openspiel_table({4, 8}, 5, 14);
  for (const auto* hit : {"HIT", "hit", " Hit.\n", "+"}) {
    CHECK(view.act(served, hit) == json{{"action", 1}});
    CHECK(view.act(openspiel, hit) == json{{"action_id", 0}});
  }
  for (const auto* stand : {"STAND", "Stand!", "="}) {
    CHECK(view.act(served, stand) == json{{"action", 0}});
    CHECK(view.act(openspiel, stand) == json{{"action_id", 1}});
  }
  for (const auto* neither : {"", ".", "HIT STAND", "I hit", "++", "stick"})
    CHECK(view.act(served, neither) == std::nullopt);
}

TEST_CASE("blackjack in words: what is practised is legal, and both moves alike") {
  const auto& view = find_text_game("blackjack")->view;
  action_random random(1);
  std::map<std::string, int> said;
  for (int i = 0; i < 1000; ++i) {
    const auto turns = view.practise(random);
    REQUIRE(!turns.empty());
    for (const auto& turn : turns) {
      ++said[turn.said.letters];
      CHECK(view.act({{"obs", {14, 6, 0}}}, turn.said.letters) ==
            view.act({{"obs", {14, 6, 0}}}, turn.said.words));
    }
  }
  REQUIRE(said.size() == 2);
  CHECK(std::abs(said["+"] - said["="]) < 150);
}

/// What a game has shown, and the moves between, on a real server (tests/fixtures/openenv).
struct recorded_game {
  std::vector<json> shown, moves;
};
recorded_game recorded(const std::string& game) {
  recorded_game found;
  for (const auto& [request, reply] : recorded_exchanges("openspiel_games_ws.txt", game)) {
    const auto asked = json::parse(request);
    if (asked.at("type") == "step") found.moves.push_back(asked.at("data"));
    found.shown.push_back(json::parse(reply)["data"]["observation"]);
  }
  return found;
}

/// Each move of the record is legal where it was made, said in either way, and no longer afterwards
/// if it is a cell.
void follow(const text_game& game, const recorded_game& play, bool moves_are_cells) {
  REQUIRE(play.shown.size() == play.moves.size() + 1);
  for (std::size_t i = 0; i < play.moves.size(); ++i) {
    const auto said = std::to_string(play.moves[i]["action_id"].get<int>());
    CHECK(game.view.act(play.shown[i], said) == play.moves[i]);
    CHECK(game.view.act(play.shown[i], ' ' + said + ".\n") == play.moves[i]);
    if (moves_are_cells) CHECK(game.view.act(play.shown[i + 1], said) == std::nullopt);
    const auto legal = play.shown[i]["legal_actions"];
    for (int move = 0; move < 9; ++move) {
      const bool may = std::ranges::find(legal, json(move)) != legal.end();
      CHECK(game.view.act(play.shown[i], std::to_string(move)).has_value() == may);
    }
  }
}

TEST_CASE("tic-tac-toe in words: what the real OpenSpiel shows, and what is a move") {
  const auto& game = *find_text_game("tic_tac_toe");
  const auto play = recorded("tic_tac_toe");
  follow(game, play, true);
  CHECK(game.view.show(play.shown[0]).words ==
        "0 1 2\n3 4 5\n6 7 8\nYou are X. Which cell: 0, 1, 2, 3, 4, 5, 6, 7, 8?");
  CHECK(game.view.show(play.shown[0]).letters == "012345678>");
  CHECK(game.view.show(play.shown[3]).words ==
        "0 O 2\nX X 5\nO X O\nYou are X. Which cell: 0, 2, 5?");
  CHECK(game.view.show(play.shown[3]).letters == "0b2aa5bab>");
  CHECK(game.view.show(play.shown[4]).letters == "0b2aaabab>");  // the end
  for (const auto* none : {"", "4", "9", "-1", "2 5", "cell 5", "x", "99999999999999999999"})
    CHECK(game.view.act(play.shown[3], none) == std::nullopt);

  const json served{{"obs", {0, 2, 0, 1, 1, 0, 2, 1, 2, 8}}};
  CHECK(game.view.show(served) == game.view.show(play.shown[3]));
  CHECK(game.view.act(served, "5") == json{{"action", 5}});
  CHECK(game.view.act(served, "4") == std::nullopt);
  CHECK_THROWS_WITH(game.view.show({{"obs", {3, 0, 0, 0, 0, 0, 0, 0, 0, 9}}}),
                    Catch::Contains("cells of 0 to 2"));
  CHECK_THROWS_WITH(game.view.show({{"info_state", {1, 2}}}),
                    Catch::Contains("expected a list of 27 numbers"));
}

TEST_CASE("connect four in words: what the real OpenSpiel shows, and what is a move") {
  const auto& game = *find_text_game("connect_four");
  const auto play = recorded("connect_four");
  follow(game, play, false);
  CHECK(game.view.show(play.shown[0]).letters == ">");
  CHECK(game.view.show(play.shown[4]).words ==
        ". . . . . . .\n. . . . . . .\n. . . . . . .\n. . X . . . .\n. . X . . O .\n. O O O X X .\n"
        "0 1 2 3 4 5 6\nYou are X. Which column: 0, 1, 2, 3, 4, 5, 6?");
  CHECK(game.view.show(play.shown[4]).letters == "5>");

  // Earlier releases of OpenSpiel had the two players' planes the other way round.
  auto swapped = play.shown[4];
  auto& tensor = swapped["info_state"];
  std::swap_ranges(tensor.begin(), tensor.begin() + 42, tensor.begin() + 42);
  CHECK(game.view.show(swapped) == game.view.show(play.shown[4]));

  auto own = std::vector<int>(43, 0);
  for (const int cell : {2, 9, 16, 23, 30, 37}) own[std::size_t(cell)] = 1;
  own[42] = 7;
  const json full{{"obs", own}};
  CHECK(game.view.show(full).letters == ">");
  CHECK(game.view.act(full, "2") == std::nullopt);
  CHECK(game.view.act(full, "3") == json{{"action", 3}});
  CHECK(game.view.act(full, "7") == std::nullopt);
}

TEST_CASE("catch in words: what the real OpenSpiel shows, and what is a move") {
  const auto& view = find_text_game("catch")->view;
  const auto play = recorded("catch");
  REQUIRE(play.shown.size() == 10);
  CHECK(view.show(play.shown[0]).words ==
        "The ball is in column 1, 9 rows above the paddle, which is in column 2. LEFT, STAY or "
        "RIGHT?");
  CHECK(view.show(play.shown[0]).letters == "192>");
  CHECK(view.show(play.shown[1]).letters == "183>");
  CHECK(view.show(play.shown[9]).letters == "103>");  // missed
  for (int move = 0; move < 3; ++move) {
    const json action{{"action_id", move}};
    CHECK(view.act(play.shown[0], std::array{"Left.", " STAY", "right"}[std::size_t(move)]) ==
          action);
    CHECK(view.act(play.shown[0], std::array{"-", "=", "+"}[std::size_t(move)]) == action);
  }
  CHECK(view.act(play.shown[0], "up") == std::nullopt);
  CHECK_THROWS_WITH(view.show({{"info_state", std::vector<int>(50, 0)}}),
                    Catch::Contains("expected a ball and a paddle"));
  // What is practised falls as the real ball does.
  action_random random(1);
  const auto turns = view.practise(random);
  REQUIRE(turns.size() == 9);
  CHECK(turns.front().shown.letters.substr(1) == "92>");
  CHECK(turns.back().shown.letters.substr(1, 1) == "1");
}

TEST_CASE("games on boards: what is practised is legal from the first move to the last") {
  for (const auto* name : {"tic_tac_toe", "connect_four"}) {
    const auto& view = find_text_game(name)->view;
    action_random random(1);
    std::map<std::string, int> said;
    for (int i = 0; i < 200; ++i) {
      const auto turns = view.practise(random);
      REQUIRE(turns.size() >= 3);
      REQUIRE(std::ssize(turns) <= find_text_game(name)->turns);
      for (const auto& turn : turns) {
        ++said[turn.said.letters];
        CHECK(turn.said.words == turn.said.letters);
        // The question names the legal moves.
        const auto& words = turn.shown.words;
        CHECK(words.substr(words.rfind(':')).find(turn.said.words) != std::string::npos);
      }
    }
    CHECK(said.size() == (std::string(name) == "tic_tac_toe" ? 9 : 7));
  }
}

using hand = std::vector<std::string>;

/// All that is shown, hitting until the end, and the reward.
task<hand> hit_until_the_end(service<text_world> worlds, std::uint64_t seed) {
  const session_options alone{.exclusive = true};
  const auto table = co_await worlds.session(alone);
  auto now = co_await table.route<&text_world::reset>(text_reset{.seed = seed});
  hand seen{now.shown.letters};
  while (!now.ended) {
    now = co_await table.route<&text_world::step>("HIT");
    seen.push_back(now.shown.letters);
  }
  seen.push_back(std::to_string(now.reward));
  co_return seen;
}

task<> deal_twice(system& sys, world_maker make, hand* seen) {
  const auto spec = text_environment_of(*find_text_game("blackjack"), std::move(make));
  const auto worlds = co_await sys.serve<text_world>(
      {.name = "worlds", .replicas = 2}, spec.make,
      text_world_options{.refusal_ends = true, .refusal_reward = -1.1});
  *seen = co_await hit_until_the_end(worlds, 7);
  CHECK(seen->size() > 2);
  CHECK(seen->back() == "-1.000000");
  const auto again = co_await hit_until_the_end(worlds, 7);
  CHECK(again == *seen);
  const auto other = co_await hit_until_the_end(worlds, 8);
  CHECK(other != *seen);

  const session_options alone{.exclusive = true};
  const auto table = co_await worlds.session(alone);
  const auto first = co_await table.route<&text_world::reset>(text_reset{.seed = 7});
  const auto refused = co_await table.route<&text_world::step>("hit me");
  CHECK(refused.ended);
  CHECK(refused.refused == "it is no legal move");
  CHECK(refused.reward == -1.1);
  CHECK(refused.shown.letters == first.shown.letters);
}

TEST_CASE("text_world: a seed deals the same in this process and on a server") {
  hand here, there;
  troupe::system deterministic({.deterministic = true, .seed = 1});
  deterministic.run(deal_twice(deterministic, openenv_server::local_worlds("Blackjack-v1"), &here));

  troupe::system sys;
  const openenv_server::server served([] { return make_vector_environment("Blackjack-v1", 1); },
                                      {.port = 0}, sys.metrics());
  const auto url = "http://127.0.0.1:" + std::to_string(served.port());
  sys.run(deal_twice(sys, worlds_on({.urls = {url}}), &there));
  CHECK(here == there);
}

task<> think_first(system&) {
  const auto spec = text_environment_of(*find_text_game("blackjack"),
                                        openenv_server::local_worlds("Blackjack-v1"));
  const auto world = spec.make();
  co_await world->reset({.seed = 7});
  const auto refused = co_await world->step("<think>\nSTAND\n</think>\n\nhit me");
  CHECK(refused.refused == "it is no legal move");
  const auto now = co_await world->step("<think>\nHIT or STAND?\n</think>\n\nSTAND");
  CHECK(now.refused == "");
  CHECK(now.ended);
}

TEST_CASE("games in words: a move is what comes after the thoughts") {
  troupe::system sys({.deterministic = true, .seed = 1});
  sys.run(think_first(sys));
}

TEST_CASE("text_world: environments that nobody knows are refused by name") {
  CHECK_THROWS_WITH(openenv_server::local_worlds("Blackjak-v1"), Catch::Contains("Blackjack-v1"));
  CHECK(find_text_game("poker") == nullptr);
}

}  // namespace
}  // namespace troupe::openenv

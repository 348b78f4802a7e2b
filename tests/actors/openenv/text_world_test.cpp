#include "actors/env/openenv/text_world.hpp"

#include <cmath>
#include <map>

#include "actors/env/openenv_server/local_world.hpp"
#include "actors/env/openenv_server/server.hpp"
#include "actors/env/registry.hpp"
#include "runtime/system.hpp"
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

using hand = std::vector<std::string>;

/// All that is shown, hitting until the end, and the reward.
task<hand> hit_until_the_end(service<text_world> worlds, std::uint64_t seed) {
  const session_options alone{.exclusive = true};
  const auto table = co_await worlds.session(alone);
  auto now = co_await table.route<&text_world::begin>(seed);
  hand seen{now.shown.letters};
  while (!now.ended) {
    now = co_await table.route<&text_world::say>("HIT");
    seen.push_back(now.shown.letters);
  }
  seen.push_back(std::to_string(now.reward));
  co_return seen;
}

task<> deal_twice(system& sys, world_maker make, hand* seen) {
  const auto view = find_text_game("blackjack")->view;
  const auto worlds = co_await sys.serve<text_world>({.name = "worlds", .replicas = 2}, view,
                                                     std::move(make), -1.1);
  *seen = co_await hit_until_the_end(worlds, 7);
  CHECK(seen->size() > 2);
  CHECK(seen->back() == "-1.000000");
  const auto again = co_await hit_until_the_end(worlds, 7);
  CHECK(again == *seen);
  const auto other = co_await hit_until_the_end(worlds, 8);
  CHECK(other != *seen);

  const session_options alone{.exclusive = true};
  const auto table = co_await worlds.session(alone);
  const auto first = co_await table.route<&text_world::begin>(std::uint64_t{7});
  const auto refused = co_await table.route<&text_world::say>("hit me");
  CHECK(refused.ended);
  CHECK(refused.illegal);
  CHECK(refused.reward == -1.1);
  CHECK(refused.shown == first.shown);
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

TEST_CASE("text_world: environments that nobody knows are refused by name") {
  CHECK_THROWS_WITH(openenv_server::local_worlds("Blackjak-v1"), Catch::Contains("Blackjack-v1"));
  CHECK(find_text_game("poker") == nullptr);
}

}  // namespace
}  // namespace troupe::openenv

#include "actors/worlds/matrix_games/matrix_game.hpp"

#include <array>
#include <map>

#include "actors/worlds/registry.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;
using payoffs = std::array<double, 2>;

/// A game, and what is seen of it.
struct played {
  explicit played(const std::string& id, const std::string& options = "{}")
      : game(make_environment({.id = id, .options = options})),
        obs(game->spec().observation_space.flat_size()) {
    game->reset(1, obs);
  }
  step_result play(std::int64_t first, std::int64_t second) {
    const std::vector<std::int64_t> both{first, second};
    return game->step(action_view(std::span<const std::int64_t>(both)), obs);
  }
  payoffs got() const {
    const auto steps = game->agent_steps();
    return {steps[0].reward, steps[1].reward};
  }
  /// What both agents see, and the state.
  std::vector<float> seen() const {
    const auto each = static_cast<std::ptrdiff_t>(obs.size() / 3);
    const std::vector<float> first(obs.begin(), obs.begin() + each);
    CHECK(std::vector<float>(obs.begin() + each, obs.begin() + 2 * each) == first);
    CHECK(std::vector<float>(obs.begin() + 2 * each, obs.end()) == first);
    return first;
  }

  std::unique_ptr<environment> game;
  std::vector<float> obs;
};

TEST_CASE("matrix games: what the tables of the papers say is paid", "[env]") {
  const std::map<std::string, std::vector<std::vector<payoffs>>> tables{
      {"climbing-v0",
       {{{11, 11}, {-30, -30}, {0, 0}}, {{-30, -30}, {7, 7}, {6, 6}}, {{0, 0}, {0, 0}, {5, 5}}}},
      {"penalty-v0",
       {{{10, 10}, {0, 0}, {-100, -100}},
        {{0, 0}, {2, 2}, {0, 0}},
        {{-100, -100}, {0, 0}, {10, 10}}}},
      {"prisoners_dilemma-v0", {{{3, 3}, {0, 5}}, {{5, 0}, {1, 1}}}},
      {"matching_pennies-v0", {{{1, -1}, {-1, 1}}, {{-1, 1}, {1, -1}}}},
      {"rock_paper_scissors-v0",
       {{{0, 0}, {-1, 1}, {1, -1}}, {{1, -1}, {0, 0}, {-1, 1}}, {{-1, 1}, {1, -1}, {0, 0}}}},
      {"matrix_game-v0", {{{1, 1}, {0, 0}}, {{0, 0}, {1, 1}}}}};
  for (const auto& [id, table] : tables) {
    for (std::size_t a = 0; a < table.size(); ++a) {
      for (std::size_t b = 0; b < table[a].size(); ++b) {
        played one(id);
        const auto result = one.play(std::int64_t(a), std::int64_t(b));
        INFO(id << ' ' << a << ' ' << b);
        CHECK(one.got() == table[a][b]);
        CHECK(result.reward == (table[a][b][0] + table[a][b][1]) / 2);
      }
    }
  }
}

TEST_CASE("matrix games: an episode has its rounds and shows the last actions", "[env]") {
  played one("prisoners_dilemma-v0");
  CHECK(one.seen() == std::vector<float>{0, 0, 0, 0});
  for (int round = 1; round <= 10; ++round) {
    const auto result = one.play(0, 1);
    CHECK(one.seen() == std::vector<float>{1, 0, 0, 1});
    CHECK(result.terminated == (round == 10));
    CHECK_FALSE(result.truncated);
  }
  one.game->reset(std::nullopt, one.obs);
  CHECK(one.seen() == std::vector<float>{0, 0, 0, 0});
  CHECK(played("climbing-v0").play(1, 1).terminated);
  played three("rock_paper_scissors-v0", R"({"rounds":3})");
  CHECK_FALSE(three.play(0, 2).terminated);
  CHECK(three.seen() == std::vector<float>{1, 0, 0, 0, 0, 1});
  CHECK_FALSE(three.play(0, 0).terminated);
  CHECK(three.play(2, 1).terminated);
}

TEST_CASE("matrix games: in two_step agent_0 alone chooses the table of the second step", "[env]") {
  for (const std::int64_t other : {0, 1}) {
    for (const std::int64_t a : {0, 1}) {
      for (const std::int64_t b : {0, 1}) {
        played first("two_step-v0"), second("two_step-v0");
        CHECK(first.seen() == std::vector<float>{1, 0, 0});
        CHECK_FALSE(first.play(0, other).terminated);
        CHECK(first.got() == payoffs{0, 0});
        CHECK(first.seen() == std::vector<float>{0, 1, 0});
        CHECK(first.play(a, b).terminated);
        CHECK(first.got() == payoffs{7, 7});
        second.play(1, other);
        CHECK(second.seen() == std::vector<float>{0, 0, 1});
        CHECK(second.play(a, b).terminated);
        const double paid = a + b == 2 ? 8 : static_cast<double>(a + b);
        CHECK(second.got() == payoffs{paid, paid});
      }
    }
  }
}

TEST_CASE("matrix games: a table of one's own may be of any size and for each agent", "[env]") {
  played one("matrix_game-v0",
             R"({"payoffs":[[1,2,3]],"payoffs_of_agent_1":[[-1,-2,-3]],"rounds":2})");
  const auto spec = one.game->spec();
  CHECK(spec.agents[0].name == "agent_0");
  CHECK(spec.agents[1].name == "agent_1");
  CHECK(to_string(spec.action_space) == "Tuple(Discrete(1), Discrete(3))");
  one.play(0, 2);
  CHECK(one.got() == payoffs{3, -3});
  played penalty("penalty-v0", R"({"k":-3.5})");
  penalty.play(0, 2);
  CHECK(penalty.got() == payoffs{-3.5, -3.5});
}

TEST_CASE("matrix games: a factor of rewards and their clip hold for each agent", "[env]") {
  const auto game = make_environment(
      {.id = "prisoners_dilemma-v0", .wrappers = {.reward_scale = 2, .reward_clip = 6.5}});
  std::vector<float> obs(game->spec().observation_space.flat_size());
  game->reset(1, obs);
  const std::vector<std::int64_t> betrayed{0, 1}, both{0, 0};
  CHECK(game->step(action_view(std::span<const std::int64_t>(betrayed)), obs).reward == 3.25);
  CHECK(game->agent_steps()[1].reward == 6.5);
  CHECK(game->step(action_view(std::span<const std::int64_t>(both)), obs).reward == 6);
}

TEST_CASE("matrix games: tables and actions that are none are refused", "[env]") {
  const auto refusal = [](const std::string& id, const std::string& options) {
    return testing::message_of<std::invalid_argument>(
        [&] { make_environment({.id = id, .options = options}); });
  };
  CHECK_THAT(refusal("matrix_game-v0", R"({"payoffs":[[1,2],[3]]})"),
             Contains("env.options/payoffs: expected rows"));
  CHECK_THAT(refusal("matrix_game-v0", R"({"payoffs":[]})"), Contains("env.options/payoffs"));
  CHECK_THAT(refusal("matrix_game-v0", R"({"payoffs":[[]]})"), Contains("env.options/payoffs"));
  CHECK_THAT(refusal("matrix_game-v0", R"({"payoffs_of_agent_1":[[1,2]]})"),
             Contains("env.options/payoffs_of_agent_1: expected as many rows"));
  CHECK_THAT(refusal("climbing-v0", R"({"rounds":0})"), Contains("env.options/rounds"));
  CHECK_THAT(refusal("penalty-v0", R"({"k":1})"), Contains("env.options/k"));
  CHECK_THAT(refusal("two_step-v0", R"({"rounds":3})"), Contains("env.options: expected none"));
  CHECK_THROWS_AS(matrix_game({.payoffs = {}}), std::invalid_argument);
  CHECK_THROWS_WITH(matrix_game({.payoffs = {{1}, {2, 3}}}), Contains("matrix_game-v0/payoffs"));
  CHECK_THROWS_WITH(played("climbing-v0").play(0, 3),
                    "climbing-v0: agent_1: expected an action of 0 to 2, got 3");
}

TEST_CASE("matrix games: a saved game goes on, also in one that has ended", "[env]") {
  for (const std::string id : {"two_step-v0", "prisoners_dilemma-v0"}) {
    played one(id), other(id);
    one.play(1, 0);
    while (!other.play(1, 1).terminated) {
    }
    state_writer saved;
    REQUIRE(one.game->save(saved));
    other.game->restore(state_reader(saved.bytes()));
    for (bool over = false; !over;) {
      const auto a = one.play(1, 1), b = other.play(1, 1);
      CHECK(one.obs == other.obs);
      CHECK(a.reward == b.reward);
      CHECK(a.terminated == b.terminated);
      over = a.terminated;
    }
  }
  state_writer damaged;
  damaged.put("game", std::vector<std::int64_t>{0, 3, 0, 0, 0});
  CHECK_THROWS_WITH(
      two_step_game().restore(state_reader(damaged.bytes())),
      Contains("two_step-v0: expected a round, stages 0 to 2") && Contains("0, 3, 0"));
}

}  // namespace
}  // namespace troupe

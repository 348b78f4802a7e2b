#include "actors/openenv/client/numeric_worlds.hpp"
#include "actors/openenv/client/world.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/system/system.hpp"
#include "tests/actors/openenv/client/fake_server.hpp"
#include "tests/actors/openenv/protocol/recorded_session.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

namespace troupe::openenv {
namespace {

using nlohmann::json;

// A replica may be in another process, or on a node.
static_assert(encodable<client_options> && encodable<openspiel::action> &&
              encodable<turn<openspiel::observation>> && encodable<turn<tools::observation>>);

template <class World>
std::vector<turn<typename World::observation>> recorded_turns(const std::string& file,
                                                              const std::string& title) {
  std::vector<turn<typename World::observation>> turns;
  for (const auto& [request, text] : recorded_exchanges(file, title)) {
    auto made = parse_reply(text);
    if (made.kind == reply_kind::observation)
      turns.push_back(to_turn<typename World::observation>(std::move(made.result)));
  }
  return turns;
}

TEST_CASE("openenv worlds: what real servers showed reads as their types", "[openenv]") {
  const auto hands = recorded_turns<openspiel>("openspiel_blackjack_ws.txt", "two hands");
  REQUIRE(hands.size() > 4);
  CHECK(hands[0].observation.info_state.size() == 189);
  CHECK(hands[0].observation.legal_actions == std::vector<std::int64_t>{0, 1});
  CHECK(hands[0].observation.game_phase == "initial");
  CHECK_FALSE(hands[0].reward);
  CHECK(hands[2].ended);
  CHECK(hands[2].observation.current_player_id == -4);

  const auto moves = recorded_turns<connect4>("connect4_env_ws.txt", "connect4 game");
  CHECK(moves[0].observation.board.size() == 6);
  CHECK(moves[0].observation.board[5].size() == 7);

  const auto calls = recorded_turns<tools>("echo_env_ws.txt", "normal session");
  CHECK_FALSE(calls[0].observation.tools);
  CHECK((*calls[2].observation.tools)[0]["name"] == "echo_message");
  CHECK(calls[3].observation.tool_name == "echo_message");
  CHECK(calls[3].observation.result["data"] == "Hello");
  const auto failed = recorded_turns<tools>("echo_env_ws.txt", "errors");
  const bool told = std::ranges::any_of(failed, [](const auto& t) {
    return t.observation.error && t.observation.error->error_type == "tool_not_found";
  });
  CHECK(told);
}

TEST_CASE("openenv worlds: actions are written without what is empty", "[openenv]") {
  CHECK(to_json_object(openspiel::action{.action_id = 1}) == json{{"action_id", 1}});
  CHECK(to_json_object(tools::list()) == json{{"type", "list_tools"}});
  CHECK(to_json_object(tools::call("echo_message", {{"message", "hi"}})) ==
        json{{"type", "call_tool"},
             {"tool_name", "echo_message"},
             {"arguments", {{"message", "hi"}}}});
  CHECK(to_json_object(git::action{.action_type = "clone_repo", .repo_name = "a"}) ==
        json{{"action_type", "clone_repo"}, {"repo_name", "a"}});
  CHECK(to_json_object(chat::action{.tokens = {1, 2}}) == json{{"tokens", {1, 2}}});
}

TEST_CASE("openenv worlds: every type reads what it is, and names what is wrong", "[openenv]") {
  const auto seen = from_json<atari::observation>(
      json::parse(R"({"screen":[0,255],"screen_shape":[1,2],"legal_actions":[0],"lives":3,
                      "episode_frame_number":4,"frame_number":5,"later":{}})"),
      "/o");
  CHECK(seen.screen == std::vector<std::uint8_t>{0, 255});
  CHECK(from_json<coding::observation>(json::parse(R"({"stdout":"a","stderr":"","exit_code":1})"),
                                       "/o")
            .exit_code == 1);
  const auto said = from_json<textarena::observation>(
      json::parse(R"({"prompt":"p","messages":[{"sender_id":-1,"content":"c","category":"MESSAGE"}],
                      "current_player_id":0,"legal_players":[0],"info":{}})"),
      "/o");
  CHECK(said.messages[0].content == "c");
  CHECK(from_json<browsergym::observation>(json::parse(R"({"text":"t","url":"u"})"), "/o").url ==
        "u");
  CHECK(from_json<chat::observation>(
            json::parse(R"({"messages":[{"role":"user","content":"c"}],"tokens":[7]})"), "/o")
            .messages[0]
            .role == "user");

  const auto refusal = [](const char* text) {
    return testing::message_of<bad_text>(
        [&] { from_json<atari::observation>(json::parse(text), "/o"); });
  };
  CHECK(refusal(R"({"screen":[0,256]})") ==
        "/o/screen/1: expected a whole number from 0 to 255, got 256");
  CHECK(refusal(R"({"screen":"x"})") == "/o/screen: expected a list, got \"x\"");
  CHECK(refusal(R"({"screen":[]})") == "/o/screen_shape: expected it, got none");
  CHECK(refusal("3") == "/o: expected an object, got 3");
}

/// A game of three steps that wants action 1, for whoever comes.
void count_to_three(fake_connection& to) {
  int step = 0;
  while (true) {
    const auto text = to.receive();
    if (text.empty() || text == request_text(request_kind::close, "")) return;
    const auto asked = json::parse(text);
    double reward = 0;
    if (asked.at("type") == "reset") step = 0;
    if (asked.at("type") == "step") {
      ++step;
      reward = asked.at("data").at("action_id") == 1 ? 1 : 0;
    }
    const json data{{"observation",
                     {{"info_state", {step, asked.at("data").value("seed", -1)}},
                      {"legal_actions", {0, 1}},
                      {"game_phase", "playing"},
                      {"current_player_id", 0},
                      {"opponent_last_action", nullptr}}},
                    {"reward", reward},
                    {"done", step == 3}};
    to.send_text(reply_text(reply_kind::observation, data));
  }
}

using game = world<openspiel>;

task<double> play_game(service<game> tables) {
  const session_options alone{.exclusive = true};
  auto table = co_await tables.session(alone);
  const json seeded{{"seed", 3}};
  auto now = co_await table.route<&game::reset>(seeded);
  CHECK(now.observation.info_state == std::vector<float>{0, 3});
  double total = 0;
  while (!now.ended) {
    const openspiel::action one{.action_id = 1};
    now = co_await table.route<&game::step>(one);
    total += now.reward.value_or(0);
  }
  co_return total;
}

task<double> play_many(system& sys, std::string url) {
  const client_options servers{.urls = {url}};
  auto tables =
      co_await sys.serve<game>({.name = "tables", .replicas = 32}, servers, &sys.metrics());
  std::vector<task<double>> episodes;
  for (int i = 0; i < 64; ++i) episodes.push_back(play_game(tables));
  double total = 0;
  const auto all_totals = co_await all(std::move(episodes));
  for (const double one : all_totals) total += one;
  co_return total;
}

TEST_CASE("openenv worlds: 32 replicas of a role play 64 episodes, each on a connection",
          "[openenv]") {
  fake_server server({.session = count_to_three, .http = {}});
  troupe::system sys;
  CHECK(sys.run(play_many(sys, server.url())) == 64 * 3);
  CHECK(server.accepted() == 32);
}

task<failure> play_with_another_type(system& sys, std::string url) {
  const client_options servers{.urls = {url}};
  auto boards = co_await sys.serve<world<connect4>>({.name = "boards"}, servers);
  const json nothing = json::object();
  try {
    co_await boards.route<&world<connect4>::reset>(nothing);
  } catch (const role_error& e) {
    try {
      std::rethrow_exception(e.cause());
    } catch (const error& cause) {
      co_return cause.reason();
    }
  }
  throw std::logic_error("it was understood");
}

TEST_CASE("openenv worlds: a world of another type is an error", "[openenv]") {
  fake_server server({.session = count_to_three, .http = {}});
  troupe::system sys;
  CHECK(sys.run(play_with_another_type(sys, server.url())) == failure::wrong_type);
}

numeric_view counting_view() {
  auto view = openspiel_view("catch");
  view.spec = {.id = "Count-v0",
               .observation_space = spaces::box(-10, 10, {2}),
               .action_space = spaces::discrete(3)};
  return view;
}

TEST_CASE("openenv worlds: a vector of numeric ones steps, ends and begins like any environment",
          "[openenv]") {
  fake_server server({.session = count_to_three, .http = {}});
  auto worlds = make_numeric_worlds(counting_view(), {.urls = {server.url()}}, 4);
  CHECK(worlds->reset(5).obs == recycled_vector<float>{0, 5, 0, 6, 0, 7, 0, 8});
  env_actions actions;
  actions.discrete = {1, 1, 0, 1};
  const auto first = worlds->step(actions);
  CHECK(first.reward == recycled_vector<double>{1, 1, 0, 1});
  CHECK(first.obs == recycled_vector<float>{1, -1, 1, -1, 1, -1, 1, -1});
  worlds->step(actions);
  const auto last = worlds->step(actions);
  CHECK(last.terminated == recycled_vector<std::uint8_t>{1, 1, 1, 1});
  REQUIRE(last.finished.size() == 4);
  CHECK(last.finished[0].episode_return == 3);
  CHECK(last.finished[0].final_obs == recycled_vector<float>{3, -1});
  CHECK(last.obs == recycled_vector<float>{0, -1, 0, -1, 0, -1, 0, -1});
  CHECK(server.accepted() == 4);

  // Action 2 is not legal there: it is not sent, and loses.
  actions.discrete = {2, 1, 1, 1};
  const auto lost = worlds->step(actions);
  CHECK(lost.reward == recycled_vector<double>{-1, 1, 1, 1});
  CHECK(lost.terminated == recycled_vector<std::uint8_t>{1, 0, 0, 0});
  CHECK(lost.failures.empty());
}

/// An episode whose steps have no reward.
void reward_nothing(fake_connection& to) {
  for (int step = 0; !to.receive().empty(); ++step) {
    const json observed{{"info_state", {step, 0}}};
    to.send_text(reply_text(reply_kind::observation,
                            {{"observation", observed}, {"reward", nullptr}, {"done", false}}));
  }
}

TEST_CASE("openenv worlds: a reward of null is NaN, and no episode is learned from it",
          "[openenv]") {
  fake_server server({.session = reward_nothing, .http = {}});
  env_actions actions;
  actions.discrete = {1};
  auto worlds = make_numeric_worlds(counting_view(), {.urls = {server.url()}}, 1);
  worlds->reset(1);
  const auto refused = worlds->step(actions);
  REQUIRE(refused.failures.size() == 1);
  CHECK(refused.failures[0].reason == env_failure_reason::nonfinite);

  auto view = counting_view();
  view.null_reward = 0;
  worlds = make_numeric_worlds(view, {.urls = {server.url()}}, 1);
  worlds->reset(1);
  const auto taken = worlds->step(actions);
  CHECK(taken.failures.empty());
  CHECK(taken.reward == recycled_vector<double>{0});
}

TEST_CASE("openenv worlds: a numeric world whose server goes costs its episodes", "[openenv]") {
  auto server =
      std::make_unique<fake_server>(fake_server::behaviour{.session = count_to_three, .http = {}});
  auto worlds = make_numeric_worlds(counting_view(),
                                    {.urls = {server->url()},
                                     .connect_timeout = std::chrono::milliseconds(50),
                                     .capacity_timeout = std::chrono::milliseconds(0)},
                                    2);
  worlds->reset(1);
  server.reset();
  env_actions actions;
  actions.discrete = {1, 1};
  CHECK_THROWS_AS(worlds->step(actions), environment_lost);
}

TEST_CASE("openenv worlds: unknown games are refused with those that are known", "[openenv]") {
  CHECK_THROWS_WITH(openspiel_view("poker"),
                    Catch::Contains("blackjack") && Catch::Contains("\"poker\""));
}

}  // namespace
}  // namespace troupe::openenv

// Real servers, made with the OpenEnv package of PyPI: tests/worlds/worlds_test.sh says which
// Python has it, in TROUPE_WORLDS_PYTHON, and where the servers are, in TROUPE_WORLDS_DIR.

#include <cstdlib>
#include <iterator>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "actors/openenv/client/numeric_worlds.hpp"
#include "actors/openenv/client/provider.hpp"
#include "actors/openenv/client/view_discovery.hpp"
#include "actors/openenv/client/world.hpp"
#include "actors/openenv/text/served_world.hpp"
#include "actors/openenv/text/text_view.hpp"
#include "actors/text/text_world.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/system/system.hpp"
#include "tests/test.hpp"

namespace troupe::openenv {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

std::string setting(const char* variable) {
  const char* value = std::getenv(variable);
  if (!value) throw std::runtime_error(std::string(variable) + " is not set");
  return value;
}

process_options server_of(const std::string& script, std::vector<std::string> more = {}) {
  process_options options{.command = {setting("TROUPE_WORLDS_PYTHON"),
                                      setting("TROUPE_WORLDS_DIR") + '/' + script, "--port",
                                      "{port}"}};
  options.command.insert(options.command.end(), more.begin(), more.end());
  return options;
}

task<> play_echo(client echo) {
  auto game = echo.open();
  const auto first = co_await game.reset({{"seed", 7}, {"episode_id", "ep-1"}});
  CHECK(first.observation["echoed_message"] == "ready, seed 7");
  CHECK(first.reward == 0.0);
  for (int i = 1; i <= 50; ++i) {
    json action{{"message", std::string(static_cast<std::size_t>(i), 'x')}};
    const auto next = co_await game.step(std::move(action));
    CHECK(next.observation["message_length"] == i);
    CHECK(next.metadata["step"] == i);
    CHECK_FALSE(next.ended);
  }
  const auto state = co_await game.state();
  CHECK(state["episode_id"] == "ep-1");
  CHECK(state["step_count"] == 50);
}

/// How a step with this action fails.
task<std::pair<failure, std::string>> refused_step(client echo, json action) {
  auto game = echo.open();
  co_await game.reset();
  try {
    co_await game.step(std::move(action));
  } catch (const error& e) {
    co_return std::pair(e.reason(), std::string(e.what()));
  }
  throw std::logic_error("it was accepted");
}

TEST_CASE("openenv real servers: echo", "[.worlds]") {
  troupe::system sys;
  const auto servers = sys.run(from_process(server_of("echo_server.py", {"--sessions", "2"})));
  const client echo({.urls = servers.urls()}, &sys.metrics());
  sys.run(play_echo(echo));

  const auto invalid = sys.run(refused_step(echo, {{"nope", 1}}));
  CHECK(invalid.first == failure::validation);
  CHECK(invalid.second.find("\"loc\":[\"nope\"]") != std::string::npos);
  const auto thrown = sys.run(refused_step(echo, {{"message", "raise"}}));
  CHECK(thrown.first == failure::execution);
  CHECK(thrown.second.find("the echo was told to raise") != std::string::npos);
  const client impatient({.urls = servers.urls(), .reply_timeout = 200ms});
  CHECK(sys.run(refused_step(impatient, {{"message", "slow"}, {"delay_ms", 1500}})).first ==
        failure::timeout);

  // Two seats, eight players: everybody gets a turn.
  std::vector<task<>> eight;
  for (int i = 0; i < 8; ++i) eight.push_back(play_echo(echo));
  sys.run(all(std::move(eight)));
}

task<std::optional<double>> reward_of(client echo, std::string message) {
  auto game = echo.open();
  co_await game.reset();
  const json action{{"message", std::move(message)}};
  const auto got = co_await game.step(action);
  co_return got.reward;
}

TEST_CASE("openenv real servers: a reward of NaN comes as null, and is NaN to learners",
          "[.worlds]") {
  troupe::system sys;
  const auto servers = sys.run(from_process(server_of("echo_server.py")));
  const client echo({.urls = servers.urls()});
  CHECK(sys.run(reward_of(echo, "four")) == 0.4);
  CHECK_FALSE(sys.run(reward_of(echo, "nan")));

  const numeric_view view{
      .spec = {.id = "Echo-v0",
               .observation_space = spaces::box(0, 100, {1}),
               .action_space = spaces::discrete(1)},
      .observe = [](const json& seen,
                    std::span<float> obs) { obs[0] = seen["message_length"].get<float>(); },
      .act = [](action_view) { return json{{"message", "nan"}}; },
      .forbid = nullptr};
  auto worlds = make_numeric_worlds(view, {.urls = servers.urls()}, 1);
  worlds->reset(1);
  env_actions only;
  only.discrete = {0};
  const auto after = worlds->step(only);
  REQUIRE(after.failures.size() == 1);
  CHECK(after.failures[0].reason == env_failure_reason::nonfinite);
}

using table = world<openspiel>;

struct tally {
  int hands = 0, won = 0, lost = 0;
};

task<tally> play_hands(service<table> tables, int hands, unsigned seed) {
  const session_options alone{.exclusive = true};
  auto mine = co_await tables.session(alone);
  std::minstd_rand random(seed);
  tally counted;
  for (; counted.hands < hands; ++counted.hands) {
    const json deal{{"seed", random() % 1'000'000}};
    auto now = co_await mine.route<&table::reset>(deal);
    CHECK(now.observation.info_state.size() == 189);
    while (!now.ended) {
      const auto& legal = now.observation.legal_actions;
      const openspiel::action any{.action_id = legal[random() % legal.size()]};
      now = co_await mine.route<&table::step>(any);
    }
    CHECK(now.reward);
    counted.won += now.reward == 1.0;
    counted.lost += now.reward == -1.0;
  }
  co_return counted;
}

task<tally> play_at_32_tables(system& sys, std::vector<std::string> urls) {
  const client_options servers{.urls = std::move(urls)};
  auto tables =
      co_await sys.serve<table>({.name = "tables", .replicas = 32}, servers, &sys.metrics());
  std::vector<task<tally>> players;
  for (unsigned i = 0; i < 32; ++i) players.push_back(play_hands(tables, 25, i + 1));
  const auto counts = co_await all(std::move(players));
  tally total;
  for (const auto& one : counts) {
    total.hands += one.hands;
    total.won += one.won;
    total.lost += one.lost;
  }
  co_return total;
}

TEST_CASE("openenv real servers: BlackJack of OpenSpiel, on two servers", "[.worlds]") {
  troupe::system sys;
  auto two = server_of("openspiel_server.py");
  two.servers = 2;
  const auto servers = sys.run(from_process(two));
  const auto total = sys.run(play_at_32_tables(sys, servers.urls()));
  // A random player wins 28.3 % and loses 67.5 % of its hands: three deviations of 800.
  std::printf("BlackJack: %d hands at random, %d won, %d lost\n", total.hands, total.won,
              total.lost);
  CHECK(total.hands == 800);
  CHECK(std::abs(total.won - 226) < 39);
  CHECK(std::abs(total.lost - 540) < 40);

  auto worlds = make_numeric_worlds(openspiel_view("blackjack"), {.urls = servers.urls()}, 8);
  const auto first = worlds->reset(1);
  CHECK(first.obs.size() == 8 * 189);
  CHECK(worlds->reset(1).obs == first.obs);  // the seed is honoured
  std::size_t finished = 0;
  for (int i = 0; i < 20; ++i) {
    env_actions stand;
    stand.discrete.assign(8, 1);
    const auto after = worlds->step(stand);
    CHECK(after.failures.empty());
    finished += after.finished.size();
  }
  CHECK(finished == 160);  // who stands ends the hand
}

TEST_CASE("openenv real servers: tic-tac-toe, where what is no legal move loses", "[.worlds]") {
  troupe::system sys;
  const auto servers =
      sys.run(from_process(server_of("openspiel_server.py", {"--game", "tic_tac_toe"})));
  auto worlds = make_numeric_worlds(openspiel_view("tic_tac_toe"), {.urls = servers.urls()}, 2);
  worlds->reset(1);
  env_actions corner;
  corner.discrete.assign(2, 0);
  CHECK(worlds->step(corner).terminated == recycled_vector<std::uint8_t>{0, 0});
  const auto again = worlds->step(corner);
  CHECK(again.terminated == recycled_vector<std::uint8_t>{1, 1});
  CHECK(again.reward == recycled_vector<double>{-1, -1});
  CHECK(again.failures.empty());
}

/// Plays steps at random, which must all succeed.
void play_at_random(vector_environment& worlds, std::int64_t actions, int steps) {
  const auto size = worlds.size();
  CHECK(worlds.reset(1).failures.empty());
  std::minstd_rand random(1);
  for (int i = 0; i < steps; ++i) {
    env_actions drawn;
    for (std::size_t j = 0; j < size; ++j)
      drawn.discrete.push_back(static_cast<std::int64_t>(random()) % actions);
    const auto after = worlds.step(drawn);
    REQUIRE(after.failures.empty());
  }
}

TEST_CASE("openenv real servers: games of OpenSpiel train by a view that is found out",
          "[.worlds]") {
  const std::map<std::string, std::pair<std::size_t, std::int64_t>> sizes{
      {"blackjack", {189, 2}}, {"leduc_poker", {30, 3}}, {"go", {1444, 362}}};
  for (const auto& [name, size] : sizes) {
    CAPTURE(name);
    troupe::system sys;
    const auto running = sys.run(from_process(server_of("openspiel_server.py", {"--game", name})));
    const client_options servers{.urls = running.urls()};
    const auto view = view_at(servers);
    CHECK(view.spec.observation_space.flat_size() == size.first);
    CHECK(view.spec.action_space == space(spaces::discrete(size.second)));
    play_at_random(*make_numeric_worlds(view, servers, 2), size.second, 20);
  }
  troupe::system sys;
  const auto chess = sys.run(from_process(server_of("openspiel_server.py", {"--game", "hex"})));
  CHECK(view_at({.urls = chess.urls()}).spec.action_space == space(spaces::discrete(121)));
}

TEST_CASE("openenv real servers: numbers and a picture in a dictionary are trained on",
          "[.worlds]") {
  troupe::system sys;
  const auto running = sys.run(from_process(server_of("rover_server.py")));
  const client_options servers{.urls = running.urls()};
  const auto found = discover_view(servers);
  CHECK(to_json(found.view)["observation"].dump() ==
        R"([{"pointer":"/battery"},{"pointer":"/camera","shape":[40,40,3],"type":"uint8"},)"
        R"({"pointer":"/position/x"},{"pointer":"/position/y"}])");
  CHECK(found.left_out.size() == 2);
  auto worlds =
      make_numeric_worlds(numeric_view_of(found.view, spec_of(found.view, "Rover")), servers, 2);
  worlds->reset(1);
  for (int i = 0; i < 25; ++i) {
    env_actions drive;
    drive.discrete = {i % 4, 3};
    drive.continuous = {0.5F, 1.0F};
    REQUIRE(worlds->step(drive).failures.empty());
  }
}

task<> call_echo(text_environment_maker make) {
  const auto world = make();
  const auto first = co_await world->reset({.seed = 1});
  CHECK_THAT(first.system, Catch::Contains("\"name\":\"echo_with_length\"") &&
                               Catch::Contains("\"times\":{\"default\":1"));
  const auto next = co_await world->step(
      R"(<tool_call>{"name": "echo_with_length", "arguments": {"message": "hi"}}</tool_call>)");
  CHECK(next.shown.words == R"({"length":2,"message":"hi"})");
  const auto unknown =
      co_await world->step(R"(<tool_call>{"name": "nothing", "arguments": {}}</tool_call>)");
  CHECK_THAT(unknown.shown.words + unknown.refused, Catch::Contains("nothing"));
}

TEST_CASE("openenv real servers: tools are listed for the model, and called", "[.worlds]") {
  troupe::system sys;
  const auto running = sys.run(from_process(server_of("tools_server.py")));
  sys.run(call_echo(worlds_of("openenv:" + running.urls().front(), "{}", nullptr)));
  CHECK_THROWS_WITH(view_at({.urls = running.urls()}), Catch::Contains("task.world=openenv:URL"));
}

/// Of the words after the last colon in the last line, "0, 2, 5?", the first number; where there
/// are none, a stay.
std::string first_move(const std::string& words) {
  const auto shown = words.substr(words.rfind('\n') + 1);
  const auto list = shown.rfind(": ");
  return list == shown.npos ? "STAY"
                            : shown.substr(list + 2, shown.find_first_of(",?", list) - list - 2);
}

task<> play_in_words(service<text_world> worlds) {
  const session_options alone{.exclusive = true};
  const auto table = co_await worlds.session(alone);
  std::map<double, int> ends;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    auto now = co_await table.route<&text_world::reset>(text_reset{.seed = seed});
    while (!now.ended) {
      auto move = first_move(now.shown.words);
      CAPTURE(now.shown.words, move);
      now = co_await table.route<&text_world::step>(std::move(move));
      REQUIRE(now.refused.empty());
    }
    ++ends[now.reward];
  }
  // Of 30 games of these poor players some are won and some lost.
  CHECK(ends[1.0] > 0);
  CHECK(ends[-1.0] > 0);
}

TEST_CASE("openenv real servers: games in words, to their ends", "[.worlds]") {
  for (const std::string name : {"tic_tac_toe", "connect_four", "catch"}) {
    CAPTURE(name);
    troupe::system sys;
    const auto servers = sys.run(from_process(server_of("openspiel_server.py", {"--game", name})));
    // The first observation tells what is played.
    std::string world = "openenv:" + servers.urls().front();
    const auto worlds = sys.run(sys.serve<text_world>(
        {.name = "worlds"}, worlds_of(world, "{}", nullptr), text_world_options{}));
    sys.run(play_in_words(worlds));
  }
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream from(text);
  return {std::istream_iterator<std::string>(from), {}};
}

/// The last move that the question names: RAISE of "CALL or RAISE?".
std::string last_name(const std::string& shown) {
  const auto end = shown.rfind('?');
  const auto begin = shown.rfind(' ', end);
  return shown.substr(begin + 1, end - begin - 1);
}

task<int> play_named(text_environment_maker make, int turns) {
  const auto world = make();
  int played = 0;
  auto now = co_await world->reset({.seed = 1});
  for (; played < turns && !now.ended; ++played) {
    auto move = last_name(now.shown.words);
    CAPTURE(now.shown.words, move);
    now = co_await world->step(std::move(move));
    CHECK(now.refused == "");
  }
  co_return played;
}

TEST_CASE("openenv real servers: games whose moves have names, in words", "[.worlds]") {
  for (const std::string name : {"kuhn_poker", "leduc_poker", "2048", "cliff_walking"}) {
    CAPTURE(name);
    troupe::system sys;
    const auto running = sys.run(from_process(server_of("openspiel_server.py", {"--game", name})));
    CHECK(sys.run(play_named(worlds_of("openenv:" + running.urls().front(), "{}", nullptr), 10)) >
          0);
  }
  troupe::system sys;
  const auto chess = sys.run(from_process(server_of("openspiel_server.py", {"--game", "chess"})));
  CHECK_THROWS_WITH(require_words("openenv:" + chess.urls().front(), "{}"),
                    Catch::Contains("\"chess\" can't be told in words"));
}

TEST_CASE("openenv real servers: echo in a container", "[.container]") {
  troupe::system sys;
  image_options options{.image = setting("TROUPE_WORLDS_IMAGE"),
                        .tool = words_of(setting("TROUPE_WORLDS_TOOL")),
                        .run_options = words_of(setting("TROUPE_WORLDS_RUN_OPTIONS")),
                        .command = server_of("echo_server.py", {"--host", "0.0.0.0"}).command};
  for (auto& word : options.command) {
    if (word == "{port}") word = "8000";
  }
  const auto servers = sys.run(from_docker_image(options));
  sys.run(play_echo(client({.urls = servers.urls()})));
  if (!std::getenv("TROUPE_WORLDS_HOLD")) return;
  std::printf("held\n");  // to be killed
  std::fflush(stdout);
  std::this_thread::sleep_for(60s);
}

/// OpenEnv's own environments, from the checkout at OPENENV_DIR.
process_options own_server(const std::string& name, std::vector<std::string> environment = {}) {
  const auto checkout = setting("OPENENV_DIR");
  environment.push_back("PYTHONPATH=" + checkout + "/src:" + checkout + "/envs");
  return {.command = {setting("TROUPE_WORLDS_PYTHON"), "-m", "uvicorn", name + ".server.app:app",
                      "--host", "127.0.0.1", "--port", "{port}"},
          .environment = std::move(environment)};
}

template <class World>
task<turn<typename World::observation>> play_first_move(client games, typename World::action move) {
  auto game = games.open();
  co_await game.reset();
  auto got = co_await game.step(to_json_object(move));
  co_return to_turn<typename World::observation>(std::move(got));
}

TEST_CASE("openenv own environments: echo, connect4 and openspiel of a checkout", "[.own]") {
  troupe::system sys;
  {
    const auto servers = sys.run(from_process(own_server("echo_env")));
    const client games({.urls = servers.urls()});
    const auto said =
        sys.run(play_first_move<tools>(games, tools::call("echo_message", {{"message", "hi"}})));
    CHECK(said.observation.result["data"] == "hi");
  }
  {
    const auto servers = sys.run(from_process(own_server("connect4_env")));
    const client games({.urls = servers.urls()});
    const auto moved = sys.run(play_first_move<connect4>(games, {.column = 3}));
    CHECK(moved.observation.board[5][3] != 0);
  }
  {
    const auto servers =
        sys.run(from_process(own_server("openspiel_env", {"OPENSPIEL_GAME=blackjack"})));
    const client games({.urls = servers.urls()});
    const auto stood = sys.run(play_first_move<openspiel>(games, {.action_id = 1}));
    CHECK(stood.observation.info_state.size() == 189);
    CHECK(stood.ended);
  }
}

}  // namespace
}  // namespace troupe::openenv

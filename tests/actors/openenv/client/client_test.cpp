#include "actors/openenv/client/client.hpp"

#include <algorithm>
#include <future>

#include "actors/openenv/protocol/url.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/system/system.hpp"
#include "tests/actors/openenv/client/fake_server.hpp"
#include "tests/actors/openenv/protocol/recorded_session.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/runtime/support.hpp"
#include "tests/runtime/wait_until.hpp"
#include "tests/test.hpp"

namespace troupe::openenv {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

std::string observation(const json& what = json::object(), bool ended = false) {
  return reply_text(reply_kind::observation,
                    {{"observation", what}, {"reward", 1}, {"done", ended}});
}

/// Says `replies` in turn, then waits for the client to leave.
fake_server::behaviour saying(std::vector<std::string> replies) {
  return {.session =
              [replies](fake_connection& to) {
                for (const auto& reply : replies) {
                  if (to.receive().empty()) return;
                  to.send_text(reply);
                }
                while (!to.receive().empty()) {
                }
              },
          .http = {}};
}

/// What awaiting `work` fails with.
template <class T>
task<failure> failure_of(task<T> work) {
  try {
    co_await work;
  } catch (const error& e) {
    UNSCOPED_INFO(e.what());
    co_return e.reason();
  }
  throw std::logic_error("it did not fail");
}

/// A reset that works and a step that fails: how, and whether the connection is kept.
task<std::pair<failure, bool>> fail_at_step(client games) {
  auto game = games.open();
  co_await game.reset();
  const json action{{"a", 1}};
  const auto how = co_await failure_of(game.step(action));
  co_return std::pair(how, game.connected());
}

std::pair<failure, bool> step_against(fake_server::behaviour how, client_options options = {}) {
  fake_server server(std::move(how));
  troupe::system sys;
  options.urls = {server.url()};
  return sys.run(fail_at_step(client(options, &sys.metrics())));
}

std::pair<failure, bool> step_answered_by(std::function<void(fake_connection&)> answer,
                                          client_options options = {}) {
  return step_against({.session =
                           [answer](fake_connection& to) {
                             to.receive();
                             to.send_text(observation({{"first", true}}));
                             if (!to.receive().empty()) answer(to);
                           },
                       .http = {}},
                      std::move(options));
}

using ends = std::pair<failure, bool>;

TEST_CASE("openenv client: what a server says wrongly ends the episode, by its reason",
          "[openenv]") {
  const auto text = [](const std::string& what) {
    return step_answered_by([what](fake_connection& to) { to.send_text(what); });
  };
  CHECK(text(R"({"type":"observation","data":{"obs)") == ends(failure::not_json, false));
  CHECK(text(R"({"type":"observation","data":{}})") == ends(failure::wrong_type, false));
  CHECK(text("{\"a\":\"\xff\"}") == ends(failure::not_utf8, false));
  CHECK(text(std::string(1000, '[')) == ends(failure::too_deep, false));
  CHECK(text(R"({"type":"state","data":{}})") == ends(failure::unexpected, false));
  CHECK(text(error_text(server_error::session_error, "bad")) == ends(failure::session, false));
  CHECK(text(R"({"type":"error","data":{}})") == ends(failure::session, false));
  CHECK(step_answered_by([](fake_connection& to) { to.send_frame(0x82, observation()); }) ==
        ends(failure::wrong_type, false));
  CHECK(step_answered_by([](fake_connection&) {}) == ends(failure::closed, false));
  CHECK(step_answered_by([](fake_connection& to) { to.send_close(1011, "dying"); }) ==
        ends(failure::closed, false));
  CHECK(step_answered_by([](fake_connection& to) {
          to.send_head(0x81, 100);
          to.send_raw("half");
        }) == ends(failure::closed, false));
}

TEST_CASE("openenv client: a reply above the limit is refused by its first bytes", "[openenv]") {
  CHECK(step_answered_by([](fake_connection& to) {
          to.send_head(0x81, 100'000'000);
          to.receive();  // nothing of it was sent
        }) == ends(failure::too_large, false));
}

TEST_CASE("openenv client: a reply that never ends, or comes too late, costs its episode",
          "[openenv]") {
  client_options quick;
  quick.reply_timeout = 60ms;
  CHECK(step_answered_by(
            [](fake_connection& to) {
              to.send_frame(0x01, "{");
              // Without a pause it would reach its limit of bytes first.
              while (to.send_raw(std::string("\0\1 ", 3))) std::this_thread::sleep_for(2ms);
            },
            quick) == ends(failure::timeout, false));
  CHECK(step_answered_by([](fake_connection& to) { to.receive(); }, quick) ==
        ends(failure::timeout, false));
}

task<failure> fail_at_reset(client games) {
  auto game = games.open();
  co_return co_await failure_of(game.reset());
}

/// The message with which a reset fails.
task<std::string> message_at_reset(client games) {
  auto game = games.open();
  try {
    co_await game.reset();
  } catch (const error& e) {
    co_return e.what();
  }
  co_return "it did not fail";
}

TEST_CASE("openenv client: a limit is told with the option that sets it", "[openenv]") {
  fake_server silent(saying({}));
  fake_server full({.session =
                        [](fake_connection& to) {
                          to.send_text(error_text(server_error::capacity_reached, "full",
                                                  {{"active_sessions", 1}, {"max_sessions", 1}}));
                          to.send_close(1000, "");
                        },
                    .http = {}});
  const limit_names names{.connect = "env.options.connect_timeout",
                          .reply = "env.step_timeout",
                          .reset = "env.reset_timeout",
                          .capacity = "env.options.capacity_timeout"};
  troupe::system sys;
  const auto message = [&](client_options options) {
    return sys.run(message_at_reset(client(std::move(options), &sys.metrics())));
  };
  CHECK_THAT(message({.urls = {silent.url()}, .reset_timeout = 60ms, .named_by = names}),
             holds("no reply within 60 ms (env.reset_timeout)"));
  CHECK_THAT(message({.urls = {silent.url()}, .reply_timeout = 60ms, .named_by = names}),
             holds("no reply within 60 ms (env.step_timeout)"));
  CHECK_THAT(message({.urls = {full.url()}, .capacity_timeout = 10ms, .named_by = names}),
             holds("within 10 ms (env.options.capacity_timeout): "));
  CHECK_THAT(message({.urls = {silent.url()}, .reset_timeout = 60ms}),
             holds("no reply within 60 ms") && !holds("ms ("));
}

TEST_CASE("openenv client: the reply to a reset has a limit of its own", "[openenv]") {
  const auto slow_at_reset = [](fake_connection& to) {
    to.receive();
    std::this_thread::sleep_for(200ms);  // longer than a reply to a step may take
    to.send_text(observation());
    while (!to.receive().empty()) {  // no step is answered
    }
  };
  CHECK(step_against({.session = slow_at_reset, .http = {}},
                     {.reply_timeout = 60ms, .reset_timeout = 60s}) ==
        ends(failure::timeout, false));
  fake_server silent(saying({}));
  troupe::system sys;
  const client quick({.urls = {silent.url()}, .reset_timeout = 60ms}, &sys.metrics());
  CHECK(sys.run(fail_at_reset(quick)) == failure::timeout);
}

TEST_CASE("openenv client: a server's own refusals leave the episode as it is", "[openenv]") {
  const auto refusals = recorded_exchanges("connect4_env_ws.txt");
  const auto refused = std::ranges::find_if(
      refusals, [](const exchange& e) { return e.reply.find("VALIDATION_ERROR") != e.reply.npos; });
  REQUIRE(refused != refusals.end());
  CHECK(step_against(saying({observation(), refused->reply})) == ends(failure::validation, true));
  CHECK(step_against(saying({observation(), error_text(server_error::execution_error, "boom")})) ==
        ends(failure::execution, true));
}

task<std::string> message_of_refusal(client games) {
  auto game = games.open();
  co_await game.reset();
  const json action = json::object();
  try {
    co_await game.step(action);
  } catch (const error& e) {
    co_return e.what() + e.details().dump();
  }
  co_return "";
}

TEST_CASE("openenv client: the validation errors of a server are passed on whole", "[openenv]") {
  const json errors = json::parse(
      R"([{"type":"missing","loc":["column"],"msg":"Field required","input":{"nope":1}}])");
  fake_server server(saying({observation(), error_text(server_error::validation_error,
                                                       "Invalid message", {{"errors", errors}})}));
  troupe::system sys;
  const auto said = sys.run(message_of_refusal(client({.urls = {server.url()}})));
  CHECK(said.find(server.url() + ": step: VALIDATION_ERROR: Invalid message: " + errors.dump()) !=
        said.npos);
}

task<> play_recording(client games, std::vector<exchange> recorded) {
  auto game = games.open();
  for (const auto& [request, text] : recorded) {
    const auto asked = json::parse(request, nullptr, false);
    const auto type = asked.is_object() ? asked.value("type", "") : "";
    const auto expected = parse_reply(text);
    const json data = asked.is_object() ? asked.value("data", json::object()) : json::object();
    if (!data.is_object() || (type != "reset" && type != "step")) continue;
    if (expected.kind == reply_kind::error) {
      const auto how = co_await failure_of(type == "reset" ? game.reset(data) : game.step(data));
      CHECK(how == to_failure(expected.error.code));
      continue;
    }
    const auto got = co_await (type == "reset" ? game.reset(data) : game.step(data));
    CHECK(to_json(got) == to_json(expected.result));
  }
}

TEST_CASE("openenv client: recorded sessions of real servers are played again", "[openenv]") {
  for (const auto& [file, title] : std::vector<std::pair<std::string, std::string>>{
           {"openspiel_blackjack_ws.txt", "two hands"},
           {"openspiel_tic_tac_toe_ws.txt", "tic_tac_toe"},
           {"connect4_env_ws.txt", "connect4 game"},
           {"grid_world_env_ws.txt", "grid world"},
           {"probe_env_ws.txt", "values"},
           {"echo_env_ws.txt", "normal session"}}) {
    const auto recorded = recorded_exchanges(file, title);
    fake_server server(
        {.session =
             [&recorded](fake_connection& to) {
               for (;;) {
                 const auto asked = to.receive();
                 if (asked.empty()) return;
                 const auto at = std::ranges::find_if(recorded, [&](const exchange& e) {
                   return json::parse(e.request, nullptr, false) == json::parse(asked);
                 });
                 to.send_text(at == recorded.end() ? recorded[0].reply : at->reply);
               }
             },
         .http = {}});
    // The server finds a reply by its request, so each request is played once.
    std::vector<exchange> once;
    for (const auto& e : recorded) {
      const bool known = std::ranges::any_of(once, [&](const auto& o) {
        return json::parse(o.request, nullptr, false) == json::parse(e.request, nullptr, false);
      });
      if (!known) once.push_back(e);
    }
    troupe::system sys;
    sys.run(play_recording(client({.urls = {server.url()}}), once));
  }
}

task<std::int64_t> play_when_there_is_room(client games) {
  auto game = games.open();
  const auto first = co_await game.reset();
  co_return first.observation["seat"];
}

TEST_CASE("openenv client: a full server is asked again until it has room", "[openenv]") {
  std::atomic<int> connections{0};
  fake_server server({.session =
                          [&](fake_connection& to) {
                            const int seat = ++connections;
                            if (seat < 4) {
                              to.send_text(
                                  error_text(server_error::capacity_reached, "full",
                                             {{"active_sessions", 1}, {"max_sessions", 1}}));
                              return to.send_close(1000, "");
                            }
                            while (!to.receive().empty())
                              to.send_text(observation({{"seat", seat}}));
                          },
                      .http = {}});
  troupe::system sys;
  CHECK(sys.run(play_when_there_is_room(client({.urls = {server.url()}}, &sys.metrics()))) == 4);
  CHECK(sys.metrics().text().find("troupe_openenv_failures_total{reason=\"capacity\"} 3") !=
        std::string::npos);
  client impatient({.urls = {server.url()}, .capacity_timeout = 0ms});
  connections = 0;
  CHECK(sys.run(failure_of(play_when_there_is_room(impatient))) == failure::capacity);
}

TEST_CASE(
    "openenv client: sessions are spread over the servers, and those that are gone are passed by",
    "[openenv]") {
  const auto behaviour = saying({observation({{"seat", 1}})});
  fake_server one(behaviour), two(behaviour);
  std::string gone;
  {
    fake_server three(behaviour);
    gone = three.url();
  }
  troupe::system sys;
  client games({.urls = {gone, one.url(), two.url()}});
  std::vector<task<std::int64_t>> four;
  for (int i = 0; i < 4; ++i) four.push_back(play_when_there_is_room(games));
  CHECK(sys.run(all(std::move(four))).size() == 4);
  CHECK(one.accepted() == 2);
  CHECK(two.accepted() == 2);
  const client alone({.urls = {gone}, .connect_timeout = 100ms});
  CHECK(sys.run(failure_of(play_when_there_is_room(alone))) == failure::connect);
}

TEST_CASE("openenv client: a server that restarts costs time, and no episode", "[openenv]") {
  const auto behaviour = saying({observation({{"seat", 1}})});
  std::uint16_t port = 0;
  {
    const fake_server before(behaviour);
    port = before.port();
  }
  troupe::system sys;
  const auto refused = [&] {
    return series(sys.metrics().text(), R"(troupe_openenv_failures_total{reason="connect"})");
  };
  const client games({.urls = {"http://127.0.0.1:" + std::to_string(port)}}, &sys.metrics());
  auto playing =
      std::async(std::launch::async, [&] { return sys.run(play_when_there_is_room(games)); });
  while (refused() < 2 && playing.wait_for(1ms) == std::future_status::timeout) {
  }
  const fake_server after(behaviour, port);
  CHECK(playing.get() == 1);
  CHECK(after.accepted() == 1);
}

/// Serves one session at a time, as a server of OpenEnv does by default, and refuses any other.
fake_server::behaviour with_one_slot(std::function<void(fake_connection&)> serve) {
  const auto playing = std::make_shared<std::atomic<int>>(0);
  return {.session =
              [serve, playing](fake_connection& to) {
                if (++*playing == 1) {
                  serve(to);
                } else {
                  to.send_text(error_text(server_error::capacity_reached, "full",
                                          {{"active_sessions", 1}, {"max_sessions", 1}}));
                  to.send_close(1000, "");
                }
                --*playing;
              },
          .http = {}};
}

/// Replies with the number of the reply.
void counting(fake_connection& to) {
  for (int n = 0; !to.receive().empty(); ++n) to.send_text(observation({{"n", n}}));
}

task<> leave_for_another_session(client games) {
  auto first = games.open(), second = games.open();
  const json action = json::object();
  co_await first.reset();
  co_await first.step(action);
  first.end_episode();
  co_await second.reset();  // the server has one slot
  CHECK_FALSE(first.connected());
  const auto how = co_await failure_of(first.step(action));
  CHECK(how == failure::closed);
  second.end_episode();
  second.end_episode();
  co_await first.reset();
  CHECK(first.connected());
}

TEST_CASE("openenv client: an episode that its caller ends frees its slot", "[openenv]") {
  fake_server server(with_one_slot(counting));
  troupe::system sys;
  const client games({.urls = {server.url()}, .capacity_timeout = 10s}, &sys.metrics());
  sys.run(with_timeout(leave_for_another_session(games), 30s));
}

/// An episode of `steps` steps, with a pause before each.
task<> play_slowly(client games, int steps, std::chrono::milliseconds pause) {
  auto game = games.open();
  const json action = json::object();
  co_await game.reset();
  for (int i = 0; i < steps; ++i) {
    co_await sleep_for(pause);
    co_await game.step(action);
  }
  game.end_episode();
}

TEST_CASE("openenv client: sessions that wait leave a full server alone, except the first one",
          "[openenv]") {
  fake_server server(with_one_slot(counting));
  troupe::system sys;
  const client games({.urls = {server.url()}});
  std::vector<task<>> all_games;
  for (int i = 0; i < 16; ++i) all_games.push_back(play_slowly(games, 100, 0ms));
  sys.run(with_timeout(all(std::move(all_games)), 60s));
  // Each is refused at the beginning. The first one's turn takes a few attempts, because a server
  // frees a slot a moment after the session has left.
  CHECK(server.accepted() < 16 * 8);
}

// The time that passes is what the next two cases test.
TEST_CASE("openenv client: a session waits longer than its limit while another session plays",
          "[openenv]") {
  fake_server server(with_one_slot(counting));
  troupe::system sys;
  const client games({.urls = {server.url()}, .capacity_timeout = 1s});
  std::vector<task<>> all_games;
  for (int i = 0; i < 2; ++i) all_games.push_back(play_slowly(games, 20, 100ms));
  sys.run(with_timeout(all(std::move(all_games)), 60s));
}

TEST_CASE("openenv client: a session does not wait for ever for one that plays for ever",
          "[openenv]") {
  fake_server server(with_one_slot(counting));
  troupe::system sys;
  const client games({.urls = {server.url()}, .capacity_timeout = 50ms});
  std::vector<task<>> all_games;
  for (int i = 0; i < 2; ++i) all_games.push_back(play_slowly(games, 1'000'000, 1ms));
  CHECK(sys.run(with_timeout(failure_of(all(std::move(all_games))), 60s)) == failure::capacity);
}

task<bool> play_two_episodes(client games) {
  auto game = games.open();
  co_await game.reset({});
  const json action = json::object();
  co_await game.step(action);
  const bool kept = game.connected();
  co_await game.reset({});
  co_return kept;
}

TEST_CASE("openenv client: a session may release its server's slot between episodes", "[openenv]") {
  for (const bool releases : {false, true}) {
    fake_server server(saying({observation(), observation({{"end", 1}}, true), observation()}));
    troupe::system sys;
    const client games({.urls = {server.url()}, .release_between_episodes = releases});
    CHECK(sys.run(play_two_episodes(games)) == !releases);
    CHECK(server.accepted() == (releases ? 2 : 1));
  }
}

task<> play_one_episode(session& game) {
  co_await game.reset();
  const json action = json::object();
  co_await game.step(action);
}

task<> take_the_slot_of_an_idle_one(client games) {
  auto idle = games.open();
  co_await play_one_episode(idle);
  CHECK(idle.connected());  // nobody waits
  auto next = games.open();
  co_await play_one_episode(next);
  CHECK_FALSE(idle.connected());
  const auto how = co_await failure_of(idle.state());
  CHECK(how == failure::closed);
  co_await play_one_episode(idle);
}

TEST_CASE("openenv client: a session that waits is given the slot of one between two episodes",
          "[openenv]") {
  const auto episode = saying({observation(), observation({{"end", 1}}, true), observation()});
  fake_server server(with_one_slot(episode.session));
  const testing::captured_stderr said;
  {
    troupe::system sys;
    sys.run(take_the_slot_of_an_idle_one(client({.urls = {server.url()}}, &sys.metrics())));
    CHECK(series(sys.metrics().text(), "troupe_openenv_connections") == 0);
  }
  CHECK_THAT(said.text(), holds("server=" + server.url() +
                                " slots=1 slots_in_use=1 sessions_of_this_process=2"));
}

TEST_CASE("openenv client: of sessions that share one seat each gets its turn", "[openenv]") {
  const auto episode = saying({observation(), observation({{"end", 1}}, true)});
  fake_server server(episode);
  troupe::system sys;
  const client games({.urls = {server.url()}, .sessions_max = 1});
  std::vector<session> sessions;
  std::vector<task<>> all_games;
  for (int i = 0; i < 8; ++i) sessions.push_back(games.open());
  for (auto& each : sessions) all_games.push_back(play_one_episode(each));
  sys.run(with_timeout(all(std::move(all_games)), 30s));
  CHECK(server.accepted() == 8);
}

task<> play_older(client games) {
  auto game = games.open();
  const auto first = co_await game.reset();
  CHECK(first.observation["echoed_message"] == "Echo environment ready!");
  const json hello{{"message", "Hello"}};
  const auto next = co_await game.step(hello);
  CHECK(next.observation["message_length"] == 5);
  CHECK(next.reward == 0.5);
  const auto state = co_await game.state();
  CHECK(state["step_count"] == 1);
  const json bad{{"nope", 1}};
  const auto how = co_await failure_of(game.step(bad));
  CHECK(how == failure::execution);
  CHECK(game.connected());
}

/// Answers as the recorded server of 2025 did.
std::pair<int, std::string> answer_as_older(const fake_request& asked) {
  if (asked.path == "/health") return {200, R"({"status":"healthy"})"};
  if (asked.path == "/reset")
    return {200,
            R"({"observation":{"echoed_message":"Echo environment ready!","message_length":0},)"
            R"("reward":0.0,"done":false})"};
  if (asked.path == "/step" && asked.body == R"({"action":{"message":"Hello"}})")
    return {200, R"({"observation":{"echoed_message":"Hello","message_length":5},"reward":0.5,)"
                 R"("done":false})"};
  if (asked.path == "/step") return {500, "Internal Server Error"};
  if (asked.path == "/state") return {200, R"({"episode_id":"e","step_count":1})"};
  return {404, R"({"detail":"Not Found"})"};
}

task<> keep_failure(task<result> of, std::optional<failure>& how) {
  how = co_await failure_of(std::move(of));
}

task<> close_once(std::atomic<bool>& asked, session& which) {
  co_await testing::wait_until("the request to arrive", [&] { return asked.load(); });
  which.close();
}

task<failure> close_while_asking(client games, std::atomic<bool>& asked) {
  auto game = games.open();
  co_await game.reset();
  const json action = json::object();
  std::optional<failure> how;
  co_await all(keep_failure(game.step(action), how), close_once(asked, game));
  CHECK_FALSE(game.connected());
  co_return *how;
}

TEST_CASE("openenv client: a request ends when its session is closed meanwhile", "[openenv]") {
  troupe::system sys;
  std::atomic<bool> asked{true};  // it may not even be sent
  fake_server today({.session =
                         [&](fake_connection& to) {
                           to.receive();
                           to.send_text(observation());
                           asked = !to.receive().empty();
                           to.receive();
                         },
                     .http = {}});
  const client on_today({.urls = {today.url()}});
  CHECK(sys.run(with_timeout(close_while_asking(on_today, asked), 30s)) == failure::cancelled);
  asked = false;
  CHECK(sys.run(with_timeout(close_while_asking(on_today, asked), 30s)) == failure::cancelled);

  asked = false;
  std::promise<void> over;
  fake_server older({.session = {}, .http = [&](const fake_request& what) {
                       if (what.path == "/step") {
                         asked = true;
                         over.get_future().wait();
                       }
                       return answer_as_older(what);
                     }});
  CHECK(sys.run(with_timeout(close_while_asking(client({.urls = {older.url()}}), asked), 30s)) ==
        failure::cancelled);
  over.set_value();
}

task<failure> close_while_waiting(client games, std::atomic<bool>& asked) {
  auto game = games.open();
  std::optional<failure> how;
  co_await all(keep_failure(game.reset(), how), close_once(asked, game));
  co_return *how;
}

TEST_CASE("openenv client: a reset ends when its session is closed meanwhile", "[openenv]") {
  std::atomic<bool> asked{false};
  fake_server full({.session =
                        [&](fake_connection& to) {
                          asked = true;
                          to.send_text(error_text(server_error::capacity_reached, "full"));
                          to.send_close(1000, "");
                        },
                    .http = {}});
  troupe::system sys;
  CHECK(sys.run(with_timeout(close_while_waiting(client({.urls = {full.url()}}), asked), 30s)) ==
        failure::cancelled);
}

TEST_CASE("openenv client: its headers go with every request and handshake", "[openenv]") {
  const auto plays_with_key = [](fake_server& server, auto play) {
    troupe::system sys;
    sys.run(play(client({.urls = {server.url()}, .headers = {{"Authorization", "Bearer k3y"}}})));
    const auto heads = server.heads();
    CHECK_FALSE(heads.empty());
    return std::ranges::all_of(heads, [](const std::string& head) {
      return head.find("\r\nAuthorization: Bearer k3y\r\n") != head.npos;
    });
  };
  fake_server today(saying({observation({{"seat", 1}})}));
  CHECK(plays_with_key(today, play_when_there_is_room));
  fake_server older({.session = {}, .http = answer_as_older});
  CHECK(plays_with_key(older, play_older));
}

TEST_CASE("openenv client: a header that would write others is refused, unseen", "[openenv]") {
  const auto make = [](const std::string& name, const std::string& value) {
    client({.urls = {"http://localhost:1"}, .headers = {{name, value}}});
  };
  CHECK_THROWS_WITH(make("X-Key", "s3cret\r\nHost: other"),
                    holds("a value of X-Key on one line") && !holds("s3cret"));
  CHECK_THROWS_WITH(make("X-Key", "s3cret\n"), holds("X-Key") && !holds("s3cret"));
  CHECK_THROWS_WITH(make("X Key", "s3cret"), holds("\"X Key\"") && !holds("s3cret"));
  CHECK_THROWS_WITH(make("", "s3cret"), holds("the name of a field"));
  CHECK_THROWS_WITH(make("Host", "other"), holds("does not write itself, got Host"));
  make("X-Key", "");
}

task<bool> abandon_a_step(client games) {
  auto game = games.open();
  co_await game.reset();
  const json action = json::object();
  bool expired = false;
  try {
    co_await with_timeout(game.step(action), 30ms);
  } catch (const call_error& e) {
    expired = e.kind() == error_kind::deadline_exceeded;
  }
  co_return expired && !game.connected();
}

TEST_CASE("openenv client: a step that nobody awaits any more takes its connection with it",
          "[openenv]") {
  fake_server server(saying({observation()}));
  troupe::system sys;
  CHECK(sys.run(abandon_a_step(client({.urls = {server.url()}}, &sys.metrics()))));
  CHECK(sys.metrics().text().find("troupe_openenv_failures_total{reason=\"cancelled\"} 1") !=
        std::string::npos);
}

TEST_CASE("openenv client: the older servers, without WebSockets, are played on over HTTP",
          "[openenv]") {
  fake_server server({.session = {}, .http = answer_as_older});
  troupe::system sys;
  sys.run(play_older(client({.urls = {server.url()}})));
}

TEST_CASE("openenv client: a server of today that refuses WebSockets is not played on by HTTP",
          "[openenv]") {
  fake_server server({.session = {}, .http = [](const fake_request&) {
                        return std::pair<int, std::string>(200, R"({"status":"healthy"})");
                      }});
  troupe::system sys;
  CHECK(sys.run(failure_of(play_when_there_is_room(client({.urls = {server.url()}})))) ==
        failure::handshake);
}

task<> open_in_virtual_time(client games) {
  auto game = games.open();
  co_await game.reset();
}

TEST_CASE("openenv client: a deterministic system refuses it by name", "[openenv]") {
  troupe::system sys({.deterministic = true});
  CHECK_THROWS_WITH(sys.run(open_in_virtual_time(client({.urls = {"http://localhost:1"}}))),
                    Catch::Contains("OpenEnv server comes from outside"));
}

TEST_CASE("openenv client: addresses are read as the Python client reads them", "[openenv]") {
  const auto parts = [](const std::string& text) {
    const auto url = parse_url(text);
    return url.text + " " + url.host + " " + url.port + " " + url.path;
  };
  CHECK(parts("http://localhost:8000/") == "http://localhost:8000 localhost 8000 ");
  CHECK(parts("wss://h/openenv/") == "https://h/openenv h 443 /openenv");
  CHECK(parts("games:9") == "http://games:9 games 9 ");
  CHECK(parts("ws://[::1]:8000") == "http://[::1]:8000 ::1 8000 ");
  for (const auto* bad :
       {"", "http://", "ftp://h", "h:0", "h:99999", "h:x", "h /x", "u@h", "[::1"}) {
    CHECK_THROWS_AS(parse_url(bad), std::invalid_argument);
  }
}

}  // namespace
}  // namespace troupe::openenv

#include "actors/openenv/server/server.hpp"

#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <semaphore>
#include <thread>

#include "actors/openenv/client/client.hpp"
#include "actors/openenv/client/view_discovery.hpp"
#include "actors/openenv/client/world.hpp"
#include "actors/openenv/server/byte_budget.hpp"
#include "actors/openenv/server/pace.hpp"
#include "actors/worlds/registry.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/system/system.hpp"
#include "tests/actors/environments/scripted_environment.hpp"
#include "tests/actors/openenv/server/raw_websocket.hpp"
#include "tests/eventually.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/runtime/support.hpp"
#include "tests/test.hpp"

namespace troupe::openenv_server {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::StartsWith;
using nlohmann::json;

std::unique_ptr<vector_environment> make_cartpole() {
  return make_vector_environment("CartPole-v1", 1);
}

/// A server of the tests, its metrics, and clients of it.
struct house {
  /// Serves CartPole as `troupe serve-env` does.
  explicit house(server_options options = {})
      : house(inline_steps(std::move(options)), make_cartpole) {}
  house(server_options options, environment_maker make)
      : serving(std::move(make), with_any_port(std::move(options)), metrics) {}

  static server_options inline_steps(server_options options) {
    options.inline_steps = true;
    return options;
  }
  static server_options with_any_port(server_options options) {
    options.port = 0;
    return options;
  }
  raw_websocket client(const std::string& path = "/ws") const {
    return raw_websocket(serving.port(), path);
  }
  double value(const std::string& name) const { return series(metrics.text(), name); }
  bool becomes(const std::string& name, double wanted) const {
    return testing::eventually([&] { return value(name) == wanted; });
  }
  double dropped(const std::string& reason) const {
    return value("troupe_openenv_server_sessions_dropped_total{reason=\"" + reason + "\"}");
  }

  metrics_registry metrics;
  server serving;
};

/// Lets a step of a scripted environment by action 1 wait until it is let go.
struct gate {
  std::counting_semaphore<> open{0};
  std::counting_semaphore<> arrivals{0};  ///< Those that `await_arrival` has not awaited yet.
  std::atomic<int> waiting{0};            ///< Those that have come to it.

  environment_maker maker() {
    const auto step = [this](auto, action_view action, auto) {
      if (action.discrete() == 1) {
        ++waiting;
        arrivals.release();
        open.acquire();
      }
      return step_result{.reward = 1};
    };
    return [step] {
      return std::make_unique<vector_env<scripted_environment>>(
          1, [step] { return scripted_environment({.on_step = step}); });
    };
  }
  void await_arrival() { REQUIRE(arrivals.try_acquire_for(20s)); }
  void let_go() { open.release(); }
};

const std::string reset = R"({"type":"reset","data":{"seed":1}})";
const std::string step = R"({"type":"step","data":{"action":0}})";
const std::string slow_step = R"({"type":"step","data":{"action":1}})";

TEST_CASE("openenv server: a client learns the spaces of the environment from the schema") {
  for (const std::string id : {"CartPole-v1", "Pendulum-v1", "LunarLanderContinuous-v3"}) {
    CAPTURE(id);
    const house here({}, [id] { return make_vector_environment(id, 1); });
    const auto wanted = make_vector_environment(id, 1)->spec();
    const auto url = "http://127.0.0.1:" + std::to_string(here.serving.port());
    const auto told = openenv::view_at({.urls = {url}}).spec;
    CHECK(told.observation_space == wanted.observation_space);
    CHECK(told.action_space == wanted.action_space);
  }
  const house pixels({}, [] { return make_vector_environment("CatchSmall-v0", 1); });
  const auto url = "http://127.0.0.1:" + std::to_string(pixels.serving.port());
  const auto told = openenv::view_at({.urls = {url}}).spec;
  CHECK(told.observation_space ==
        make_vector_environment("CatchSmall-v0", 1)->spec().observation_space);
}

TEST_CASE("openenv server: a WebSocket is a session of its own") {
  const house here;
  auto one = here.client();
  auto other = here.client("/ws?any=thing");
  CHECK(one.ask(reset) == other.ask(reset));
  one.ask(step);
  CHECK(json::parse(one.ask(R"({"type":"state"})"))["data"]["step_count"] == 1);
  CHECK(json::parse(other.ask(R"({"type":"state"})"))["data"]["step_count"] == 0);
  CHECK(here.value("troupe_openenv_server_sessions") == 2);
  one.send(R"({"type":"close"})");
  CHECK(one.read_close_code() == 1000);
  one.close();
  other.close();
  CHECK(here.becomes("troupe_openenv_server_sessions", 0));
  CHECK(here.value("troupe_openenv_server_sessions_opened_total") == 2);
  CHECK(here.value(R"(troupe_openenv_server_requests_total{kind="step"})") == 1);
}

TEST_CASE("openenv server: HTTP requests share a connection") {
  const house here;
  http_client client(here.serving.port());
  client.send(
      "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nPOST /reset HTTP/1.1\r\nHost: localhost\r\n"
      "Content-Length: 0\r\n\r\n");
  CHECK_THAT(client.read_answer(), StartsWith("HTTP/1.1 200 OK\r\n") && holds("healthy"));
  CHECK_THAT(client.read_answer(), holds("\"obs\""));
  client.send("GET /reset HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  CHECK_THAT(client.read_all(), StartsWith("HTTP/1.1 405 ") && holds("Allow: POST\r\n"));
  CHECK(here.value("troupe_openenv_server_http_requests_total") == 3);
}

/// What a browser sends for a page of that origin.
std::string asked_by_page(const std::string& what, const std::string& origin,
                          const std::string& host = "localhost") {
  return what + " HTTP/1.1\r\nHost: " + host + "\r\nOrigin: " + origin +
         "\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
}

TEST_CASE("openenv server: no page of a browser can use it but those that may") {
  const house here({.allowed_origins = {"https://games.example"}});
  const auto answer = [&](const std::string& request) {
    http_client client(here.serving.port());
    client.send(request);
    return client.read_all();
  };
  CHECK_THAT(answer(asked_by_page("POST /reset", "https://evil.example")),
             StartsWith("HTTP/1.1 403 ") && holds("evil.example") && !holds("\"obs\""));
  CHECK_THAT(answer(asked_by_page("POST /reset", "http://rebound.example", "rebound.example")),
             StartsWith("HTTP/1.1 400 ") && holds("as the Host") && holds("--allow-host"));
  CHECK_THROWS_WITH(raw_websocket(here.serving.port(), "/ws", "Origin: https://evil.example\r\n"),
                    holds("HTTP/1.1 403 "));
  CHECK(here.value("troupe_openenv_server_http_requests_total") == 0);
  CHECK(here.value("troupe_openenv_server_sessions_opened_total") == 0);

  CHECK_THAT(answer(asked_by_page("POST /reset", "https://games.example")),
             StartsWith("HTTP/1.1 200 ") && holds("\"obs\"") &&
                 holds("Access-Control-Allow-Origin: https://games.example\r\n"));
  CHECK_THAT(answer(asked_by_page("OPTIONS /step", "https://games.example")),
             StartsWith("HTTP/1.1 204 ") && holds("Access-Control-Allow-Methods: GET, POST\r\n"));
  CHECK_THAT(answer(asked_by_page("OPTIONS /step", "https://evil.example")),
             StartsWith("HTTP/1.1 403 ") && !holds("Access-Control"));
  raw_websocket page(here.serving.port(), "/ws", "Origin: https://games.example\r\n");
  CHECK(json::parse(page.ask(reset))["type"] == "observation");
}

TEST_CASE("openenv server: a request has one Host, which is a name of the server") {
  const house here({.allowed_hosts = {"proxy.example"}});
  const auto answer = [&](const std::string& fields) {
    http_client client(here.serving.port());
    client.send("POST /reset HTTP/1.1\r\n" + fields +
                "Content-Length: 0\r\nConnection: close\r\n\r\n");
    return client.read_all();
  };
  const auto refuses = [](const std::string& what, const char* why) {
    CHECK_THAT(what, StartsWith("HTTP/1.1 400 ") && holds(why) && !holds("\"obs\""));
  };
  for (const char* host : {"localhost", "127.0.0.1:8000", "[::1]:8000", "proxy.example"})
    CHECK_THAT(answer("Host: " + std::string(host) + "\r\n"), StartsWith("HTTP/1.1 200 "));
  refuses(answer(""), "got none");
  refuses(answer("Host: localhost\r\nHost: localhost\r\n"), "got 2");
  refuses(answer("Host: localhost\r\nhost: evil.example\r\n"), "got 2");
  for (const char* host : {"evil.example", "127.0.0.1.evil.example", "2130706433", ""}) {
    CAPTURE(host);
    refuses(answer("Host: " + std::string(host) + "\r\n"), "as the Host");
  }
  CHECK_THROWS_WITH(raw_websocket(here.serving.port(), "/ws", "Host: localhost\r\n"),
                    holds("HTTP/1.1 400 "));
  const house open({.address = "0.0.0.0"});
  http_client client(open.serving.port());
  client.send("GET /health HTTP/1.1\r\nHost: rebound.evil.example\r\nConnection: close\r\n\r\n");
  refuses(client.read_all(), "as the Host");
}

TEST_CASE("openenv server: a full server says so first, and takes the next when one has left") {
  const house here({.sessions_max = 1});
  auto one = here.client();
  one.ask(reset);
  auto refused = here.client();
  CHECK(json::parse(refused.read_text())["data"] ==
        json::parse(R"({"message":"Server at capacity: 1/1 sessions active. Cannot accept new )"
                    R"(connections.","code":"CAPACITY_REACHED","active_sessions":1,)"
                    R"("max_sessions":1})"));
  CHECK(refused.read_close_code() == 1000);
  CHECK(here.value(R"(troupe_openenv_server_sessions_refused_total{reason="capacity"})") == 1);
  one.close();
  CHECK(here.becomes("troupe_openenv_server_sessions", 0));
  CHECK(json::parse(here.client().ask(reset))["type"] == "observation");
}

TEST_CASE("openenv server: an environment that can't be made is the first message") {
  int made = 0;
  const house here({}, [&] {
    if (++made > 1) throw std::runtime_error("no room on the board");
    return make_cartpole();
  });
  auto client = here.client();
  const auto told = json::parse(client.read_text())["data"];
  CHECK(told.at("code") == "FACTORY_ERROR");
  CHECK(told.at("message") == "no room on the board");
  CHECK(client.read_close_code() == 1000);
}

TEST_CASE("openenv server: requests that don't wait for answers are answered in order") {
  const house here;
  auto client = here.client();
  std::string bytes = client_frame(1, reset);
  for (int i = 0; i < 50; ++i)
    bytes += client_frame(1, step) + client_frame(1, R"({"type":"state"})");
  client.send_bytes(bytes);
  CHECK(json::parse(client.read_text())["data"]["reward"].is_null());
  int ended = 0;
  for (int i = 1; i <= 50; ++i) {
    ended += json::parse(client.read_text())["type"] == "error";
    CHECK(json::parse(client.read_text())["data"]["step_count"] == i - ended);
  }
}

TEST_CASE("openenv server: a message may come in parts") {
  const house here;
  auto client = here.client();
  client.send_bytes(client_frame(1, reset.substr(0, 5), false) + client_frame(9, "now?") +
                    client_frame(0, reset.substr(5)));
  CHECK(client.read().opcode == 10);
  CHECK(json::parse(client.read_text())["type"] == "observation");
}

/// Has a server that steps environments inline see that they are slow, so that workers step them
/// from now on.
void make_slow(const house& here, gate& holding) {
  auto first = here.client();
  first.ask(reset);
  for (int noticed = 1; noticed <= 2; ++noticed) {  // by having held up everybody
    first.send(slow_step);
    holding.await_arrival();
    std::this_thread::sleep_for(3ms);  // a step is slow by the time that it takes
    holding.let_go();
    first.read_text();
  }
  CHECK(here.becomes("troupe_openenv_server_slow", 1));
}

TEST_CASE("openenv server: a slow environment holds up nobody, and pings are answered meanwhile") {
  gate holding;
  const house here({.inline_steps = true, .threads = 2}, holding.maker());
  make_slow(here, holding);
  auto slow = here.client();
  auto fast = here.client();
  slow.ask(reset);
  fast.ask(reset);
  slow.send(slow_step);
  holding.await_arrival();
  for (int i = 0; i < 20; ++i) CHECK(json::parse(fast.ask(step))["type"] == "observation");
  slow.send_bytes(client_frame(9, "are you there?"));
  CHECK(slow.read().opcode == 10);
  holding.let_go();
  CHECK(json::parse(slow.read_text())["data"]["reward"] == 1.0);
}

/// The calls of an environment that a server makes.
enum class call : std::uint8_t { construction, reset, step, destruction };

/// Makes environments of which one hangs in a call of that kind, once `is_armed` is set.
struct trap {
  call where;
  gate held{};
  std::atomic<bool> is_armed{false};

  void pass(call now) {
    if (now != where || !is_armed.exchange(false)) return;
    held.arrivals.release();
    held.open.acquire();
  }

  class world final : public environment {
   public:
    explicit world(trap* of) : trap_(of) { trap_->pass(call::construction); }
    ~world() override { trap_->pass(call::destruction); }
    world(const world&) = delete;

    env_spec spec() const override {
      return {.id = "Hanging-v0",
              .observation_space = spaces::box(0, 1, {1}),
              .action_space = spaces::discrete(2)};
    }
    void reset(std::optional<std::uint64_t>, std::span<float> obs) override {
      trap_->pass(call::reset);
      obs[0] = 0;
    }
    step_result step(action_view, std::span<float> obs) override {
      trap_->pass(call::step);
      obs[0] = 1;
      return {.reward = 1};
    }

   private:
    trap* trap_;
  };

  environment_maker maker() {
    return [this] {
      return std::make_unique<vector_env<std::unique_ptr<environment>>>(
          1, [this] { return std::make_unique<world>(this); });
    };
  }
};

/// The server waits for calls under way when it ends, also after a failed check.
struct let_go_at_end {
  gate& held;
  ~let_go_at_end() { held.open.release(2); }
};

TEST_CASE("openenv server: an environment that hangs in any call holds up nobody") {
  for (const auto where : {call::construction, call::reset, call::step, call::destruction}) {
    CAPTURE(static_cast<int>(where));
    trap of{.where = where};
    const house here({.threads = 2}, of.maker());
    const let_go_at_end at_end{of.held};
    auto hung = here.client();
    hung.ask(reset);
    // After as many fast steps a server that may step environments inline does.
    for (int i = 0; i < 2 * pace::in_a_row_first; ++i) hung.ask(step);
    of.is_armed = true;
    std::optional<raw_websocket> next;
    if (where == call::construction) next.emplace(here.client());
    if (where == call::reset) hung.send(reset);
    if (where == call::step) hung.send(step);
    if (where == call::destruction) hung.close();
    of.held.await_arrival();
    auto other = here.client();
    CHECK(json::parse(other.ask(reset))["type"] == "observation");
    CHECK(json::parse(other.ask(step))["type"] == "observation");
    CHECK_THAT(ask(here.serving.port(), "/health"), StartsWith("HTTP/1.1 200 "));
    CHECK_THAT(ask(here.serving.port(), "/reset", "POST"), StartsWith("HTTP/1.1 200 "));
  }
}

TEST_CASE("openenv server: another thread takes the place of one whose call hangs") {
  const testing::captured_stderr said;
  trap of{.where = call::step};
  const house here({.threads = 1, .hang_timeout = 50ms}, of.maker());
  const let_go_at_end at_end{of.held};
  std::vector<raw_websocket> hung;
  for (int i = 1; i <= 2; ++i) {
    hung.push_back(here.client());
    hung.back().ask(reset);
    of.is_armed = true;
    hung.back().send(step);
    of.held.await_arrival();
    auto other = here.client();
    CHECK(json::parse(other.ask(reset))["type"] == "observation");
    CHECK(here.becomes("troupe_openenv_server_hanging_calls", i));
  }
  CHECK_THAT(said.text(), holds("hanging_calls=2"));
  of.held.open.release(2);
  for (auto& each : hung) CHECK(json::parse(each.read_text())["type"] == "observation");
  CHECK(here.becomes("troupe_openenv_server_hanging_calls", 0));
}

TEST_CASE("openenv server: bytes that are no WebSocket's are refused by their codes") {
  const house here({.message_bytes_max = 1000});
  const auto code = [&](const std::string& bytes) {
    auto client = here.client();
    client.ask(reset);
    client.send_bytes(bytes);
    return client.read_close_code();
  };
  CHECK(code(client_frame(1, std::string(1001, 'x'))) == 1009);
  CHECK(code(client_frame(1, "\xff\xfe")) == 1007);
  CHECK(code(client_frame(3, "reserved opcode")) == 1002);
  CHECK(code(client_frame(0, "goes on with nothing")) == 1002);
  CHECK(code(std::string("\x81\x05") + "plain") == 1002);  // not masked
  CHECK(code(client_frame(9, std::string(126, 'x'))) == 1002);
  auto binary = here.client();
  binary.send_bytes(client_frame(2, reset));
  CHECK(json::parse(binary.read_text())["data"]["code"] == "SESSION_ERROR");
  CHECK(binary.read_close_code() == 1000);
  binary.close();
  CHECK(here.becomes("troupe_openenv_server_sessions", 0));
  CHECK(here.dropped("bad_frame") == 6);
}

TEST_CASE("openenv server: bytes that are no HTTP are refused, and too many too") {
  const house here({.message_bytes_max = 1000});
  const auto answer = [&](const std::string& bytes) {
    http_client client(here.serving.port());
    client.send(bytes);
    return client.read_all();
  };
  CHECK_THAT(answer("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  CHECK_THAT(answer("GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n"),
             StartsWith("HTTP/1.1 431 "));
  CHECK_THAT(
      answer("POST /reset HTTP/1.1\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'x')),
      StartsWith("HTTP/1.1 413 "));
  CHECK_THROWS_WITH(here.client("/nosuch"), holds("HTTP/1.1 403 "));
  CHECK_THAT(answer("POST /step HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nConnection: "
                    "close\r\n\r\n\xff\xfe\xfd"),
             StartsWith("HTTP/1.1 422 "));
}

TEST_CASE("openenv server: sessions don't count among the connections that wait") {
  const house here({.connections_max = 1});
  std::vector<raw_websocket> playing;
  for (int i = 0; i < 4; ++i) {
    playing.push_back(here.client());
    CHECK(json::parse(playing.back().ask(reset))["type"] == "observation");
  }
  CHECK_THAT(ask(here.serving.port(), "/health"), StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("openenv server: at the limit of connections the oldest that owes bytes makes room") {
  const house here({.connections_max = 3, .silence_timeout = 60s, .request_timeout = 60s});
  http_client half(here.serving.port());
  half.send("GET /health HTTP/1.1\r\n");  // the rest does not come
  http_client silent(here.serving.port());
  http_client next(here.serving.port());
  auto playing = here.client();
  CHECK(json::parse(playing.ask(reset))["type"] == "observation");
  std::string none;
  CHECK_FALSE(half.read_more(none));
  next.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK_THAT(next.read_answer(), StartsWith("HTTP/1.1 200 "));
  silent.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK_THAT(silent.read_answer(), StartsWith("HTTP/1.1 200 "));
  CHECK(here.value("troupe_openenv_server_silent_connections_dropped_total") == 1);
  CHECK(here.value("troupe_openenv_server_connections_refused_total") == 0);
}

/// A client whose request is under way until the gate lets it go.
http_client busy_client(const house& here, gate& holding) {
  const std::string body = R"({"action":{"action":1}})";
  http_client client(here.serving.port());
  client.send("POST /step HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  holding.await_arrival();
  return client;
}

TEST_CASE("openenv server: where every connection is busy, one more is told so") {
  const testing::captured_stderr said;
  gate holding;
  const house here({.connections_max = 2, .threads = 4}, holding.maker());
  std::vector<http_client> busy;
  for (int i = 0; i < 2; ++i) busy.push_back(busy_client(here, holding));
  CHECK_THROWS_WITH(here.client(), holds("HTTP/1.1 503 "));
  CHECK(here.value("troupe_openenv_server_connections_refused_total") == 1);
  CHECK_THAT(said.text(), holds("connections_max=2 sessions="));
  for (int i = 0; i < 2; ++i) holding.let_go();
  for (auto& each : busy) CHECK_THAT(each.read_answer(), StartsWith("HTTP/1.1 200 "));
  CHECK(json::parse(here.client().ask(reset))["type"] == "observation");
}

TEST_CASE("openenv server: who takes no answer over HTTP makes room, too") {
  const house here({.connections_max = 2, .silence_timeout = 60s});
  std::vector<http_client> held;
  for (int i = 0; i < 2; ++i) {
    std::string asked;
    for (int k = 0; k < 2000; ++k) asked += "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
    held.emplace_back(here.serving.port());
    held.back().send(asked);
  }
  CHECK(json::parse(here.client().ask(reset))["type"] == "observation");
  CHECK_THAT(ask(here.serving.port(), "/health"), StartsWith("HTTP/1.1 200 "));
}

task<bool> begins(openenv::client games) {
  auto game = games.open();
  co_await game.reset();
  co_return game.connected();
}

TEST_CASE("openenv server: who is told that it is full comes again") {
  gate holding;
  const house here({.connections_max = 1, .threads = 4}, holding.maker());
  auto busy = busy_client(here, holding);
  const openenv::client games(
      {.urls = {"http://127.0.0.1:" + std::to_string(here.serving.port())}});
  troupe::system sys;
  auto playing = std::async(std::launch::async, [&] { return sys.run(begins(games)); });
  const auto refused = [&] {
    return here.value("troupe_openenv_server_connections_refused_total");
  };
  while (refused() < 1 && playing.wait_for(1ms) == std::future_status::timeout) {
  }
  CHECK(refused() >= 1);
  holding.let_go();
  CHECK_THAT(busy.read_answer(), StartsWith("HTTP/1.1 200 "));
  CHECK(playing.get());
}

using game = openenv::world<openenv::any_world>;

task<int> play_cartpole(service<game> tables) {
  const session_options alone{.exclusive = true};
  auto table = co_await tables.session(alone);
  const json seeded{{"seed", 1}};
  const json action{{"action", 1}};
  auto now = co_await table.route<&game::reset>(seeded);
  int steps = 0;
  for (; !now.ended; ++steps) now = co_await table.route<&game::step>(action);
  co_return steps;
}

task<std::vector<int>> play_48_episodes(system& sys, std::string url) {
  const openenv::client_options servers{.urls = {url}};
  auto tables = co_await sys.serve<game>({.name = "tables", .replicas = 16}, servers);
  std::vector<task<int>> episodes;
  for (int i = 0; i < 48; ++i) episodes.push_back(play_cartpole(tables));
  co_return co_await all(std::move(episodes));
}

TEST_CASE("openenv server: one slot is enough for sixteen replicas") {
  const house here({.sessions_max = 1});
  troupe::system sys;
  const auto url = "http://127.0.0.1:" + std::to_string(here.serving.port());
  const auto steps = sys.run(with_timeout(play_48_episodes(sys, url), 60s));
  CHECK(steps == std::vector<int>(48, steps[0]));
}

TEST_CASE("openenv server: three hundred clients may come at once") {
  const house here;
  std::vector<http_client> come;
  for (int i = 0; i < 300; ++i) come.emplace_back(here.serving.port());
  for (auto& each : come) each.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  for (auto& each : come) CHECK_THAT(each.read_answer(), StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("openenv server: who sends nothing, or a byte now and then, is closed") {
  const house here({.silence_timeout = 60ms, .request_timeout = 60ms});
  http_client silent(here.serving.port());
  CHECK(silent.is_closed());
  http_client trickling(here.serving.port());
  std::jthread sender([&](const std::stop_token& stop) {
    const std::string request = "GET /health HTTP/1.1\r\n" + std::string(10'000, 'X');
    for (std::size_t i = 0; i < request.size() && !stop.stop_requested(); ++i) {
      trickling.send(request.substr(i, 1));
      std::this_thread::sleep_for(10ms);  // slower than a request may come
    }
  });
  std::string none;
  while (trickling.read_more(none)) {
  }
  sender.request_stop();
  CHECK(none.empty());
}

TEST_CASE("openenv server: a half-closed connection gives its slot back") {
  const house here({.sessions_max = 1});
  auto client = here.client();
  client.ask(reset);
  client.finish();
  CHECK(here.becomes("troupe_openenv_server_sessions", 0));
}

TEST_CASE("openenv server: who answers no ping is dropped") {
  const house here({.ping_interval = 40ms, .ping_timeout = 40ms});
  auto client = here.client();
  client.ask(reset);
  CHECK(client.read().opcode == 9);
  CHECK(client.read_close_code() == 1011);
  CHECK(here.dropped("no_pong") == 1);
  client.close();
  CHECK(here.becomes("troupe_openenv_server_sessions", 0));
}

TEST_CASE("openenv server: who answers pings may be silent until the idle time-out") {
  const house here({.ping_interval = 20ms, .ping_timeout = 2000ms, .idle_timeout = 300ms});
  auto client = here.client();
  client.ask(reset);
  int pings = 0;
  auto frame = client.read();
  for (; frame.opcode == 9; frame = client.read()) {
    ++pings;
    client.send_bytes(client_frame(10, frame.payload));
  }
  CHECK(pings > 1);
  CHECK(frame.close_code() == 1008);
  CHECK(here.dropped("idle") == 1);
}

/// A question whose answer is as long as it, so that the buffers between take but a few.
std::string echoed(std::size_t bytes) {
  return R"({"type":"mcp","data":{"jsonrpc":"2.0","method":"x","id":")" + std::string(bytes, 'x') +
         R"("}})";
}

TEST_CASE("openenv server: a message that does not come in time ends its session") {
  const house here({.request_timeout = 60ms});
  auto client = here.client();
  client.ask(reset);
  client.send_bytes(client_frame(1, reset.substr(0, 5), false));
  CHECK(client.read_close_code() == 1008);
  CHECK(here.dropped("slow_message") == 1);
}

/// Bounds that a few clients reach, and what the memory of all of them must keep to.
struct bounded_house : house {
  static constexpr std::size_t message_bytes = 64'000;
  static constexpr std::size_t memory_bytes = least_budget(message_bytes);

  bounded_house() : house({.message_bytes_max = message_bytes, .memory_bytes_max = memory_bytes}) {}

  double most_held() const { return value("troupe_openenv_server_memory_peak_bytes"); }
  /// Whether the memory was needed, was enough, and serves another client.
  void check_kept() const {
    CHECK(most_held() > memory_bytes / 2);
    CHECK(most_held() <= memory_bytes);
    CHECK(value("troupe_openenv_server_memory_refusals_total") > 0);
    auto other = client();
    CHECK(json::parse(other.ask(reset))["type"] == "observation");
    other.close();
    CHECK_THAT(ask(serving.port(), "/health"), StartsWith("HTTP/1.1 200 "));
  }
};

TEST_CASE("openenv server: questions of clients that take no answers keep to one bound in bytes") {
  const bounded_house here;
  {
    std::vector<raw_websocket> clients;
    for (int i = 0; i < 20; ++i) clients.push_back(here.client());
    std::vector<std::jthread> senders;
    for (auto& client : clients) {
      senders.emplace_back([&client] {
        for (int i = 0; i < 200; ++i) client.send(echoed(60'000));
        client.finish();
      });
    }
    CHECK(testing::eventually([&] { return here.dropped("memory") >= 5; }));
    here.check_kept();
    for (auto& client : clients) {
      while (client.read().opcode >= 0) {
      }
    }
  }
  CHECK(here.becomes("troupe_openenv_server_memory_bytes", 0));
}

TEST_CASE("openenv server: halves of messages keep to one bound in bytes") {
  const bounded_house here;
  std::vector<raw_websocket> clients;
  for (int i = 0; i < 60; ++i) {
    clients.push_back(here.client());
    clients.back().send_bytes(client_frame(1, std::string(60'000, 'x'), false));
  }
  CHECK(testing::eventually([&] { return here.dropped("memory") >= 5; }));
  here.check_kept();
  clients.clear();
  CHECK(here.becomes("troupe_openenv_server_memory_bytes", 0));
}

TEST_CASE("openenv server: a session that is ended for its memory is told so") {
  const bounded_house here;
  std::vector<http_client> half;
  const auto post = "POST /reset HTTP/1.1\r\nHost: localhost\r\nContent-Length: 64000\r\n\r\n";
  const auto refusals = [&] { return here.value("troupe_openenv_server_memory_refusals_total"); };
  while (refusals() == 0) {
    REQUIRE(half.size() < 100);
    half.emplace_back(here.serving.port());
    half.back().send(post);
    // Its first answer is to a request behind it, or the refusal: so it has been read.
    CHECK_THAT(ask(here.serving.port(), "/health"), StartsWith("HTTP/1.1 "));
  }
  CHECK(half.size() > 30);
  CHECK(here.most_held() <= bounded_house::memory_bytes);
  auto big = here.client();
  big.send(echoed(60'000));  // its JSON needs all of the memory, and those that hold less stay
  CHECK(big.read_close_code() == 1013);
  big.close();
  half.clear();
  CHECK(here.becomes("troupe_openenv_server_memory_bytes", 0));
  CHECK_THAT(here.client().ask(echoed(60'000)), holds("Method not found"));
}

TEST_CASE("openenv server: who takes no answers is cut off") {
  const house here({.write_timeout = 100ms});
  auto client = here.client();
  const auto question = echoed(900'000);
  std::jthread sender([&] {
    for (int i = 0; i < 100; ++i) client.send(question);
  });
  CHECK(here.becomes(R"(troupe_openenv_server_sessions_dropped_total{reason="slow_reader"})", 1));
  CHECK(here.becomes("troupe_openenv_server_sessions", 0));
}

TEST_CASE("openenv server: it drains: no new session, and those there are may end") {
  house here;
  auto staying = here.client();
  staying.ask(reset);
  auto drained = std::async(std::launch::async, [&] { here.serving.drain(20s); });
  REQUIRE(testing::eventually([&] { return here.serving.is_draining(); }));
  REQUIRE(testing::eventually(
      [&] { return !ask(here.serving.port(), "/health").starts_with("HTTP/1.1 200"); }));
  CHECK_THROWS_WITH(here.client(), holds("HTTP/1.1 503 "));
  CHECK(json::parse(staying.ask(step))["type"] == "observation");
  staying.close();
  drained.get();
  CHECK(here.dropped("drained") == 0);
}

TEST_CASE("openenv server: who does not end in time is sent away") {
  house here;
  auto staying = here.client();
  staying.ask(reset);
  auto drained = std::async(std::launch::async, [&] { here.serving.drain(0s); });
  CHECK(staying.read_close_code() == 1001);
  staying.close();
  drained.get();
  CHECK(here.dropped("drained") == 1);
}

TEST_CASE("openenv server: it may end while an environment steps") {
  gate holding;
  {
    const house here({}, holding.maker());
    auto client = here.client();
    client.ask(reset);
    client.send(slow_step);
    holding.await_arrival();
    holding.let_go();
  }
  CHECK(holding.waiting == 1);
}

TEST_CASE("openenv server: /mcp speaks JSON-RPC over a WebSocket") {
  const house here;
  auto client = here.client("/mcp");
  CHECK(json::parse(client.ask("xx"))["error"]["code"] == -32700);
  CHECK(json::parse(client.ask(R"({"jsonrpc":"2.0","method":"ping","id":6})"))["error"]["code"] ==
        -32601);
}

/// The response to a JSON-RPC request of POST /mcp.
json ask_rpc(const house& here, const std::string& method, const json& params = json::object()) {
  const auto body =
      json{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}, {"id", 1}}.dump();
  http_client client(here.serving.port());
  client.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  const auto answer = client.read_all();
  CHECK_THAT(answer, StartsWith("HTTP/1.1 200 "));
  return json::parse(answer.substr(answer.find("\r\n\r\n") + 4));
}

std::string error_of(raw_websocket client) {
  const auto told = json::parse(client.read_text())["data"];
  CHECK(told.at("code") == "SESSION_ERROR");
  CHECK(client.read_close_code() == 1000);
  return told.at("message");
}

TEST_CASE("openenv server: a session begins over HTTP, and WebSockets play in it by its id") {
  const house here({.sessions_max = 1});
  const std::string id = ask_rpc(here, "openenv/session/create")["result"]["session_id"];
  CHECK(here.value("troupe_openenv_server_sessions") == 1);
  CHECK(ask_rpc(here, "openenv/session/create")["error"] ==
        json::parse(R"({"code":-32000,"message":"Server at capacity: 1/1 sessions active. Cannot )"
                    R"(accept new connections.","data":{"active_sessions":1,"max_sessions":1}})"));
  CHECK(ask_rpc(here, "tools/list", {{"session_id", id}})["error"]["code"] == -32603);
  CHECK(ask_rpc(here, "tools/list", {{"session_id", "x"}})["error"]["message"] ==
        "Unknown session_id: x");
  CHECK(error_of(here.client("/ws?session_id=x")) == "Unknown session_id: x");

  const json named{{"session_id", id}};
  {
    auto one = here.client("/ws?a=b&session_id=" + id);
    one.ask(reset);
    one.ask(step);
    CHECK(error_of(here.client("/ws?session_id=" + id)) ==
          "Session " + id + " already has an attached WebSocket");
    const auto by_message = [&](const std::string& method) {
      const json rpc{{"jsonrpc", "2.0"}, {"method", method}, {"params", named}, {"id", 1}};
      return json::parse(one.ask(json{{"type", "mcp"}, {"data", rpc}}.dump()))["data"];
    };
    CHECK(by_message("openenv/session/create")["result"] == named);
    CHECK(by_message("openenv/session/close")["error"]["code"] == -32600);
    one.send(R"({"type":"close"})");
    CHECK(one.read_close_code() == 1000);
  }
  // It goes on where the WebSocket before has left it, once the server has seen that one end.
  std::optional<raw_websocket> next;
  std::string state;
  const auto limit = std::chrono::steady_clock::now() + 30s;
  while (!state.starts_with(R"({"type":"state")")) {
    REQUIRE(std::chrono::steady_clock::now() < limit);
    next.emplace(here.client("/ws?session_id=" + id));
    state = next->ask(R"({"type":"state"})");
  }
  CHECK(json::parse(state)["data"]["step_count"] == 1);
  CHECK(ask_rpc(here, "openenv/session/close", named)["result"] ==
        json({{"session_id", id}, {"closed", false}, {"closing", true}}));
  CHECK(json::parse(next->ask(step))["type"] == "observation");
  next.reset();
  CHECK(here.becomes("troupe_openenv_server_sessions", 0));

  const json other = ask_rpc(here, "openenv/session/create")["result"];
  CHECK(ask_rpc(here, "openenv/session/close", other)["result"]["closed"] == true);
  CHECK(ask_rpc(here, "openenv/session/close", other)["error"]["code"] == -32602);
  CHECK(here.value("troupe_openenv_server_sessions") == 0);
}

TEST_CASE("openenv server: a session that began over HTTP ends when nobody uses it") {
  house here({.idle_timeout = 50ms});
  ask_rpc(here, "openenv/session/create");
  CHECK(here.becomes("troupe_openenv_server_sessions", 0));
  CHECK(here.dropped("idle") == 1);
  ask_rpc(here, "openenv/session/create");
  here.serving.drain(20s);
  CHECK(here.value("troupe_openenv_server_sessions") == 0);
}

TEST_CASE("openenv server: what it can't serve is refused at once") {
  metrics_registry metrics;
  const auto make = [&](server_options options, environment_maker maker = make_cartpole) {
    server made(std::move(maker), std::move(options), metrics);
  };
  CHECK_THROWS_WITH(make({.address = "nowhere"}),
                    "OpenEnv server: expected an IP address, got \"nowhere\"");
  CHECK_THROWS_WITH(make({.sessions_max = 0}), holds("sessions_max > 0"));
  CHECK_THROWS_WITH(make({.message_bytes_max = 1000, .memory_bytes_max = 41'000}),
                    holds("expected memory_bytes_max >= ") && holds("for messages of 1000 bytes"));
  const house here;
  CHECK_THROWS_WITH(make({.port = here.serving.port()}), holds("the port is in use"));
  CHECK_THROWS_AS(make({}, [] { return make_vector_environment("nosuch", 1); }),
                  unknown_environment);
  CHECK_THROWS_WITH(make({}, [] { return make_vector_environment("CartPole-v1", 2); }),
                    holds("expected one environment, got 2"));
}

}  // namespace
}  // namespace troupe::openenv_server

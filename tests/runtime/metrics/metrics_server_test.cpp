#include "runtime/metrics/metrics_server.hpp"

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <boost/asio/executor_work_guard.hpp>
#include <random>
#include <semaphore>
#include <vector>

#include "runtime/metrics/registry.hpp"
#include "runtime/metrics/scraper.hpp"
#include "tests/resident_memory.hpp"
#include "tests/runtime/metrics/http_client.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/test.hpp"

using namespace troupe;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

metrics_server_options any_port() { return {.address = "127.0.0.1", .port = 0}; }

const std::string scrape = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";

}  // namespace

TEST_CASE("metrics server: /metrics is the registry's text in Prometheus's format") {
  metrics_registry metrics;
  metrics.counter("troupe_things_total", "Things.").increment(3);
  metrics_server server(metrics, any_port());
  const auto answer = ask(server.port(), "/metrics?any=thing");
  CHECK_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  CHECK_THAT(answer, holds("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  CHECK(series(answer, "troupe_things_total") == 3);
}

TEST_CASE("metrics server: HEAD gets the header of GET and no body") {
  metrics_registry metrics;
  metrics_server server(metrics, any_port());
  const auto answer = ask(server.port(), "/livez", "HEAD");
  CHECK_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n") && holds("Content-Length: 3\r\n"));
  CHECK_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST_CASE("metrics server: probes answer what the program says") {
  metrics_registry metrics;
  auto options = any_port();
  bool ready = false;
  options.is_live = []() -> bool { throw std::runtime_error("no idea"); };
  options.is_ready = [&] { return ready; };
  metrics_server server(metrics, options);
  CHECK_THAT(ask(server.port(), "/livez"), StartsWith("HTTP/1.1 503 "));
  CHECK_THAT(ask(server.port(), "/readyz"), StartsWith("HTTP/1.1 503 "));
  ready = true;
  CHECK_THAT(ask(server.port(), "/readyz"), StartsWith("HTTP/1.1 200 "));

  metrics_server without_probes(metrics, any_port());
  CHECK_THAT(ask(without_probes.port(), "/livez"), StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("metrics server: / is a page that links the rest") {
  metrics_registry metrics;
  metrics_server server(metrics, any_port());
  const auto answer = ask(server.port(), "/");
  CHECK_THAT(answer, holds("Content-Type: text/html; charset=utf-8\r\n"));
  for (const char* link : {"href=\"/metrics\"", "href=\"/livez\"", "href=\"/readyz\""}) {
    CHECK_THAT(answer, holds(link));
  }
  CHECK_THAT(answer, EndsWith("</html>\n"));
}

TEST_CASE("metrics server: the page needs nothing from elsewhere") {
  metrics_registry metrics;
  metrics_server server(metrics, any_port());
  const auto page = ask(server.port(), "/");
  CHECK_THAT(page, !holds("src=") && !holds("@import") && !holds("https://"));
  CHECK_THAT(page, holds("prefers-color-scheme: dark"));
}

TEST_CASE("metrics server: /boards is what the program shows, the newest of each name") {
  metrics_registry metrics;
  metrics_server server(metrics, any_port());
  CHECK_THAT(ask(server.port(), "/boards"), EndsWith("\r\n\r\n{}"));
  metrics.show("run", R"({"title": "old"})");
  metrics.show("run", R"({"title": "new"})");
  metrics.show("a \"b\"", "{}");
  const auto answer = ask(server.port(), "/boards");
  CHECK_THAT(answer, holds("Content-Type: application/json\r\n"));
  CHECK_THAT(answer, EndsWith("\r\n\r\n"
                              R"({"a \"b\"":{},"run":{"title": "new"}})"));
  CHECK_THROWS_WITH(metrics.show("run", "[1]"), holds("board \"run\": expected a JSON object"));
  CHECK_THROWS_AS(metrics.show("run", "{"), std::invalid_argument);
  const std::string long_name(metrics_registry::board_bytes_max, 'x');
  CHECK_THROWS_AS(metrics.show("run", "{\"" + long_name + "\":1}"), std::invalid_argument);
  CHECK(ask(server.port(), "/boards") == answer);
}

TEST_CASE("metrics server: unknown paths are 404, other methods 405") {
  metrics_registry metrics;
  metrics_server server(metrics, any_port());
  CHECK_THAT(ask(server.port(), "/metric"), StartsWith("HTTP/1.1 404 "));
  CHECK_THAT(ask(server.port(), "/../etc/passwd"), StartsWith("HTTP/1.1 404 "));
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "NONSENSE"}) {
    CAPTURE(method);
    CHECK_THAT(ask(server.port(), "/metrics", method),
               StartsWith("HTTP/1.1 405 ") && holds("Allow: GET, HEAD\r\n"));
  }
}

TEST_CASE("metrics server: what is no request, or too long a one, is refused and closed") {
  metrics_registry metrics;
  metrics_server server(metrics, any_port());
  CHECK_THAT(ask(server.port(), "/" + std::string(1 << 20, 'a')), StartsWith("HTTP/1.1 431 "));
  CHECK_THAT(ask(server.port(), "/metrics HTTP/1.1\r\nX: " + std::string(9000, 'a')),
             StartsWith("HTTP/1.1 431 "));
  http_client garbage(server.port());
  garbage.send("\x16\x03\x01\x02 not a request\r\n\r\n");
  CHECK_THAT(garbage.read_all(), StartsWith("HTTP/1.1 400 "));
}

TEST_CASE("metrics server: a request with a body is answered and its connection closed") {
  metrics_registry metrics;
  metrics_server server(metrics, any_port());
  http_client client(server.port());
  client.send(
      "GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 26\r\n\r\nGET /metrics HTTP/1.1");
  const auto answer = client.read_all();
  CHECK_THAT(answer, StartsWith("HTTP/1.1 200 ") && holds("Connection: close\r\n"));
  CHECK(occurrences(answer, "HTTP/1.1") == 1);
}

TEST_CASE("metrics server: one connection carries many requests, sent one by one or at once") {
  metrics_registry metrics;
  metrics_server server(metrics, any_port());
  http_client client(server.port());
  client.send(scrape);
  CHECK_THAT(client.read_answer(), holds("troupe_build_info"));
  client.send(scrape + scrape);
  CHECK_THAT(client.read_answer(), holds("troupe_build_info"));
  CHECK_THAT(client.read_answer(), holds("troupe_build_info"));
}

TEST_CASE("metrics server: 50 silent and slow connections do not hold up a scrape") {
  metrics_registry metrics;
  auto options = any_port();
  options.header_timeout = options.idle_timeout = std::chrono::hours(1);
  metrics_server server(metrics, options);
  std::vector<http_client> held;
  for (int i = 0; i < 50; ++i) {
    held.emplace_back(server.port());
    if (i % 2) held.back().send("GET /met");
  }
  for (int i = 0; i < 20; ++i) {
    CHECK_THAT(ask(server.port(), "/metrics"), holds("troupe_build_info"));
  }
  held.back().send("rics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK_THAT(held.back().read_answer(), holds("troupe_build_info"));
}

TEST_CASE("metrics server: a new connection takes the place of the one silent for longest") {
  metrics_registry metrics;
  auto options = any_port();
  options.header_timeout = options.idle_timeout = std::chrono::hours(1);
  options.connections_max = 3;
  metrics_server server(metrics, options);
  const auto connect_and_ask = [&] {
    http_client client(server.port());
    client.send(scrape);
    CHECK_THAT(client.read_answer(), holds("troupe_build_info"));  // so it has been accepted
    return client;
  };
  http_client silent(server.port());
  auto first = connect_and_ask();
  auto second = connect_and_ask();
  auto third = connect_and_ask();
  CHECK(silent.is_closed());
  auto fourth = connect_and_ask();
  CHECK(first.is_closed());
  second.send(scrape);
  CHECK_THAT(second.read_answer(), holds("troupe_build_info"));
}

/// A client that asks again and again, and takes no answer.
http_client taking_nothing(std::uint16_t port, const std::string& target) {
  http_client client(port);
  std::string asked;
  for (int i = 0; i < 180; ++i) asked += "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  client.send(asked);
  return client;
}

TEST_CASE(
    "metrics server: probes are answered while every connection is one that takes no answer") {
  metrics_registry metrics;
  auto options = any_port();
  options.header_timeout = options.idle_timeout = std::chrono::hours(1);
  metrics_server server(metrics, options);
  for (const char* target : {"/", "/metrics"}) {
    CAPTURE(target);
    std::vector<http_client> held;
    for (std::size_t i = 0; i < options.connections_max; ++i)
      held.push_back(taking_nothing(server.port(), target));
    for (int i = 0; i < 3; ++i) {
      CHECK_THAT(ask(server.port(), "/livez"), StartsWith("HTTP/1.1 200 "));
      CHECK_THAT(ask(server.port(), "/readyz"), StartsWith("HTTP/1.1 200 "));
    }
    CHECK_THAT(ask(server.port(), "/metrics"), holds("troupe_build_info"));
  }
}

/// A collector that waits, as one does that asks another process.
struct waiting_collector final : prometheus::Collectable {
  std::vector<prometheus::MetricFamily> Collect() const override {
    entered.release();
    gate.acquire();
    return {};
  }
  mutable std::counting_semaphore<> entered{0}, gate{0};
};

TEST_CASE("metrics server: probes and pages don't wait for a scrape") {
  metrics_registry metrics;
  const auto slow = std::make_shared<waiting_collector>();
  metrics.add(slow);
  metrics_server server(metrics, any_port());
  std::vector<http_client> scraping;
  const auto begin_scrape = [&] {
    scraping.emplace_back(server.port());
    scraping.back().send(scrape);
  };
  begin_scrape();
  slow->entered.acquire();
  for (int i = 0; i < 3; ++i) begin_scrape();
  CHECK_THAT(ask(server.port(), "/livez"), StartsWith("HTTP/1.1 200 "));
  CHECK_THAT(ask(server.port(), "/boards"), StartsWith("HTTP/1.1 200 "));
  // The first scrape is over, and the other three, which began meanwhile, share another one.
  slow->gate.release(2);
  for (auto& client : scraping) CHECK_THAT(client.read_answer(), holds("troupe_build_info"));
  slow->entered.acquire();
  CHECK_FALSE(slow->entered.try_acquire());
}

TEST_CASE("metrics server: who is closed while it waits for a scrape holds no memory") {
  metrics_registry metrics;
  const auto slow = std::make_shared<waiting_collector>();
  metrics.add(slow);
  auto options = any_port();
  options.connections_max = 4;
  metrics_server server(metrics, options);
  http_client first(server.port());
  first.send(scrape);
  slow->entered.acquire();
  // The first request has the connection's buffer grow. Once it is answered, the server goes on
  // with the second one, which is in the buffer already, before it accepts another connection.
  const auto large =
      "GET /livez HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(7900, 'x') + "\r\n\r\n";
  const auto before = testing::allocated_bytes();
  for (int i = 0; i < 4000; ++i) {
    http_client client(server.port());
    const bool at_once = i % 2 == 0;
    client.send(at_once ? large + scrape : large);
    CHECK_THAT(client.read_answer(), StartsWith("HTTP/1.1 200 "));
    // Otherwise it is often closed for the next one when its request has just been read.
    if (!at_once) client.send(scrape);
  }
  CHECK_THAT(ask(server.port(), "/livez"), StartsWith("HTTP/1.1 200 "));
  // Each one that stayed would take its buffer of 8 KB and more.
  CHECK(testing::allocated_bytes() < before + (8 << 20));
  slow->gate.release(2);
}

TEST_CASE("scraper: who withdraws is told nothing, and is forgotten at once") {
  metrics_registry metrics;
  const auto slow = std::make_shared<waiting_collector>();
  metrics.add(slow);
  boost::asio::io_context io;
  const auto work = boost::asio::make_work_guard(io);
  detail::scraper scrapes(metrics, io);
  int told = 0;
  const auto held = std::make_shared<int>();
  const auto ask_for = [&](int number) {
    return scrapes.ask([&told, held, number](const auto&) { told += number; });
  };
  const auto served = ask_for(1);
  slow->entered.acquire();
  const auto waits = ask_for(10);
  ask_for(100);
  CHECK(held.use_count() == 4);
  scrapes.withdraw(served);
  scrapes.withdraw(waits);
  CHECK(held.use_count() == 2);
  // The scrape under way goes on although nobody waits for it, and the next one begins after it.
  CHECK_FALSE(slow->entered.try_acquire());
  slow->gate.release(2);
  io.run_one();
  io.run_one();
  CHECK(told == 100);
  CHECK(held.use_count() == 1);
}

std::string ask_as(std::uint16_t port, const std::string& target, const std::string& fields,
                   const std::string& version = "HTTP/1.1") {
  http_client client(port);
  client.send("GET " + target + " " + version + "\r\n" + fields + "Connection: close\r\n\r\n");
  return client.read_all();
}

TEST_CASE("metrics server: a page of another server can't read it by a DNS name of its own") {
  metrics_registry metrics;
  auto options = any_port();
  options.allowed_hosts = {"proxy.example"};
  metrics_server server(metrics, options);
  for (const char* target : {"/", "/boards", "/metrics", "/livez", "/readyz"}) {
    CAPTURE(target);
    const auto answer = [&](const std::string& fields) {
      return ask_as(server.port(), target, fields);
    };
    for (const char* host : {"localhost", "127.0.0.1:9464", "[::1]:9464", "proxy.example"})
      CHECK_THAT(answer("Host: " + std::string(host) + "\r\n"), StartsWith("HTTP/1.1 200 "));
    CHECK_THAT(answer("Host: rebound.evil.example\r\n"),
               StartsWith("HTTP/1.1 400 ") && holds("rebound.evil.example") &&
                   holds("--metrics-allow-host") && !holds("troupe_build_info"));
    CHECK_THAT(answer("Host: localhost\r\nHost: rebound.evil.example\r\n"),
               StartsWith("HTTP/1.1 400 ") && holds("got 2"));
    CHECK_THAT(answer(""), StartsWith("HTTP/1.1 400 ") && holds("got none"));
    CHECK_THAT(ask_as(server.port(), target, "", "HTTP/1.0"), holds(" 200 OK\r\n"));
  }
  options.allowed_hosts = {"https://proxy.example"};
  CHECK_THROWS_WITH(metrics_server(metrics, options), holds("--metrics-allow-host: expected"));
}

TEST_CASE("metrics server: texts of prompts and answers are shown at the user's address alone") {
  metrics_registry metrics;
  metrics_server server(metrics, any_port());
  metrics.show("run", R"({"title": "PPO"})");
  metrics.show("samples", R"({"conversations": "Who are you?"})", board_readers::user);
  const auto hidden =
      "\r\n\r\n"
      R"({"run":{"title": "PPO"},"samples":{"hidden":true}})";
  const auto page = server.page();
  const std::string expected = "http://localhost:" + std::to_string(server.port()) + "/?token=";
  REQUIRE_THAT(page, StartsWith(expected));
  const auto token = page.substr(expected.size());
  CHECK(token.size() == 32);
  auto other = token;
  other.back() = other.back() == '0' ? '1' : '0';
  for (const std::string& query :
       std::vector<std::string>{"", "?token=", "?token=" + other, "?token=" + token + "0",
                                "?token=" + token.substr(1), "?other=" + token, "?token"})
    CHECK_THAT(ask(server.port(), "/boards" + query), EndsWith(hidden));
  for (const std::string& query : std::vector<std::string>{"?token=" + token, "?a=b&token=" + token,
                                                           "?token=" + token + "&a=b"})
    CHECK_THAT(ask(server.port(), "/boards" + query), holds("Who are you?") && holds("PPO"));
  CHECK(metrics_server(metrics, any_port()).page().find(token) == std::string::npos);
}

TEST_CASE("metrics server: a request that does not come in time closes its connection") {
  metrics_registry metrics;
  auto options = any_port();
  options.header_timeout = options.idle_timeout = std::chrono::milliseconds(50);
  metrics_server server(metrics, options);
  http_client silent(server.port());
  http_client slow(server.port());
  slow.send("GET /metrics HTTP/1.1\r\nHost");
  CHECK(silent.is_closed());
  CHECK(slow.read_all().empty());
  http_client idle(server.port());
  idle.send(scrape);
  CHECK_THAT(idle.read_answer(), holds("troupe_build_info"));
  CHECK(idle.is_closed());
}

TEST_CASE("metrics server: a busy port that was asked for is refused by its number") {
  metrics_registry metrics;
  metrics_server first(metrics, any_port());
  auto options = any_port();
  options.port = first.port();
  try {
    metrics_server second(metrics, options);
    FAIL("a second server listens on the same port");
  } catch (const port_busy& error) {
    CHECK(error.port() == first.port());
    CHECK_THAT(error.what(), holds(std::to_string(first.port())));
  }
}

TEST_CASE("metrics server: a busy default port gives way to the next free one") {
  metrics_registry metrics;
  auto options = any_port();
  options.port = 19464;
  options.next_free = true;
  metrics_server first(metrics, options);
  metrics_server second(metrics, options);
  CHECK(first.port() >= 19464);
  CHECK(second.port() > first.port());
  CHECK(second.port() <= 19464 + 100);
  CHECK_THAT(ask(second.port(), "/livez"), StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("metrics server: other machines reach it only where its address says so") {
  metrics_registry metrics;
  // This machine's other addresses are strangers to a server at 127.0.0.1, as other machines are.
  const metrics_server closed(metrics, {.port = 0});
  CHECK_THAT(ask(closed.port(), "/livez"), StartsWith("HTTP/1.1 200 "));
  CHECK_THROWS_WITH(http_client(closed.port(), "127.0.0.2"), holds("can't connect"));
  const metrics_server open(metrics, {.address = "0.0.0.0", .port = 0});
  CHECK_NOTHROW(http_client(open.port(), "127.0.0.2"));
}

TEST_CASE("metrics server: what is no address is refused by its text") {
  metrics_registry metrics;
  CHECK_THROWS_WITH(metrics_server(metrics, {.address = "localhost!"}), holds("localhost!"));
  CHECK_THROWS_WITH(metrics_server(metrics, {.address = "203.0.113.7"}), holds("203.0.113.7"));
}

TEST_CASE("metrics server: its end waits for no client") {
  metrics_registry metrics;
  auto options = any_port();
  options.header_timeout = std::chrono::hours(1);
  auto server = std::make_unique<metrics_server>(metrics, options);
  http_client silent(server->port());
  http_client half(server->port());
  half.send("GET /");
  CHECK_THAT(ask(server->port(), "/livez"), StartsWith("HTTP/1.1 200 "));
  server.reset();
  CHECK(silent.is_closed());
}

TEST_CASE("metrics server: a thousand mutilated requests leave it serving") {
  metrics_registry metrics;
  metrics_server server(metrics, any_port());
  std::mt19937 random(7);
  const std::string whole =
      "GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: "
      "chunked\r\n"
      "Connection: keep-alive\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
  for (int i = 0; i < 1000; ++i) {
    auto bytes = whole.substr(0, random() % (whole.size() + 1));
    for (auto flips = random() % 8; flips > 0 && !bytes.empty(); --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    http_client client(server.port());
    client.send(bytes);
    client.finish();
    if (i % 2) client.read_all();
  }
  CHECK_THAT(ask(server.port(), "/metrics"), holds("troupe_build_info"));
}

// Frames that were mutilated, to a server in this process. `./dev fuzz-openenv-server COUNT` sends
// as many under the address sanitizer.

#include <cstdlib>
#include <random>

#include "actors/openenv/server/byte_budget.hpp"
#include "actors/openenv/server/server.hpp"
#include "actors/worlds/registry.hpp"
#include "tests/actors/openenv/server/raw_websocket.hpp"
#include "tests/eventually.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/test.hpp"

namespace troupe::openenv_server {
namespace {

constexpr std::size_t message_bytes_max = 4096;
constexpr std::size_t memory_bytes_max = least_budget(message_bytes_max);
constexpr int frames_a_connection = 50;

const std::vector<std::string> good_texts{
    R"({"type":"reset","data":{"seed":42,"episode_id":"ep-001","difficulty":"hard"}})",
    R"({"type":"reset"})",
    R"({"type":"step","data":{"action":[0.5,-1.25]}})",
    R"({"type":"step","data":{"action":1,"metadata":{"who":"me"}}})",
    R"({"type":"state"})",
    R"({"type":"mcp","data":{"jsonrpc":"2.0","method":"tools/call","params":{"name":"x"},"id":7}})"};
const std::vector<std::string> splices{"{}",
                                       "[]",
                                       "null",
                                       "true",
                                       "-1",
                                       "1e999",
                                       "9223372036854775808",
                                       "\"\"",
                                       "\\ud800",
                                       "[[[[[[[[",
                                       "\"\\u0000\"",
                                       ",",
                                       "}",
                                       "{\"type\":\"step\",\"data\":{\"action\":",
                                       "2.5",
                                       "NaN",
                                       "\xf0\x9f\x98\x80"};

class mutilator {
 public:
  explicit mutilator(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return random_() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  const std::string& one_of(const std::vector<std::string>& list) {
    return list[below(list.size())];
  }

  /// A text that was good once. Still UTF-8, so the session goes on.
  std::string text() {
    auto made = one_of(good_texts);
    for (auto times = below(4); times > 0; --times) {
      const auto at = below(made.size() + 1);
      const auto length = below(made.size() - at + 1);
      switch (below(6)) {
        case 0:
          made.insert(at, one_of(splices));
          break;
        case 1:
          made.erase(at, below(length + 1));
          break;
        case 2:
          made.insert(at, made.substr(at, length));
          break;
        case 3:
          if (at < made.size()) made[at] = static_cast<char>(below(128));
          break;
        case 4:
          made.insert(at, 1, static_cast<char>(below(128)));
          break;
        case 5:
          made.replace(at, length, one_of(splices));
          break;
      }
      if (made.size() > message_bytes_max / 2) made.resize(message_bytes_max / 2);
    }
    return made;
  }

  /// A text of up to the longest that is taken, of empty values or of one long one.
  std::string long_text() {
    const bool is_list = one_in(2);
    std::string made = R"({"type":"step","data":{"action":)";
    made += is_list ? "[{}" : "\"";
    for (auto left = below(message_bytes_max - 100); left >= 3; left -= 3)
      made += is_list ? ",{}" : "xyz";
    return made + (is_list ? "]}}" : "\"}}");
  }

  /// A frame that may be no frame.
  std::string frame() {
    auto made =
        client_frame(static_cast<std::uint8_t>(one_in(2) ? 1 : below(16)), text(), !one_in(4));
    for (auto times = 1 + below(4); times > 0; --times)
      made[below(one_in(2) ? std::min<std::size_t>(made.size(), 14) : made.size())] =
          static_cast<char>(below(256));
    if (one_in(4)) made.resize(below(made.size()));
    return made;
  }

  std::string http() {
    std::string made =
        "POST /step HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Content-Length: 30\r\n\r\n{\"action\":{\"action\":1}}       ";
    for (auto times = 1 + below(6); times > 0; --times)
      made[below(made.size())] = static_cast<char>(below(256));
    return made;
  }

 private:
  std::mt19937_64 random_;
};

/// How many frames the server has answered, or closed for.
int send_some(std::uint16_t port, mutilator& from) {
  raw_websocket client(port, from.one_in(10) ? "/mcp" : "/ws");
  std::string bytes;
  for (int i = 1; i < frames_a_connection; ++i) {
    const auto text = from.one_in(20) ? from.long_text() : from.text();
    const auto cut = from.one_in(5) ? from.below(text.size() + 1) : text.size();
    if (cut == text.size())
      bytes += client_frame(1, text);
    else
      bytes += client_frame(1, text.substr(0, cut), false) + client_frame(0, text.substr(cut));
  }
  client.send_bytes(bytes + from.frame());
  client.finish();
  int answered = 0;
  for (auto frame = client.read(); frame.opcode >= 0; frame = client.read()) {
    if (frame.opcode == 1 || frame.opcode == 8) ++answered;
  }
  return answered;
}

TEST_CASE("openenv server: mutilated frames harm nobody", "[frames]") {
  const char* asked = std::getenv("TROUPE_FUZZED_FRAMES");
  const int wanted = asked ? std::atoi(asked) : 3000;
  metrics_registry metrics;
  server serving(
      [] { return make_vector_environment("Pendulum-v1", 1); },
      {.port = 0, .message_bytes_max = message_bytes_max, .memory_bytes_max = memory_bytes_max},
      metrics);
  mutilator from(20'261'122);
  std::int64_t answered = 0, connections = 0;
  for (; answered < wanted; ++connections) {
    answered += send_some(serving.port(), from);
    if (connections % 20 == 0) {
      http_client client(serving.port());
      client.send(from.http());
      client.finish();
      client.read_all();
    }
  }
  raw_websocket client(serving.port());
  CHECK_THAT(client.ask(R"({"type":"reset","data":{"seed":1}})"), holds("observation"));
  CHECK_THAT(client.ask(R"({"type":"step","data":{"action":[1]}})"), holds("\"reward\":-"));
  client.close();
  CHECK(testing::eventually(
      [&] { return series(metrics.text(), "troupe_openenv_server_sessions") == 0; }));
  CHECK(testing::eventually(
      [&] { return series(metrics.text(), "troupe_openenv_server_memory_bytes") == 0; }));
  const auto most = series(metrics.text(), "troupe_openenv_server_memory_peak_bytes");
  CHECK(most > 0);
  CHECK(most <= memory_bytes_max);
  // A session that ends at its first frames is no test: most are to be answered.
  CHECK(answered > 20 * connections);
  if (asked)
    std::printf("%lld frames in %lld sessions\n", static_cast<long long>(answered),
                static_cast<long long>(connections));
}

}  // namespace
}  // namespace troupe::openenv_server

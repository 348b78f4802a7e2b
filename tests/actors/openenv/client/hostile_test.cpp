// Servers that answer wrongly in every way we know of, at random moments of many concurrent
// episodes: nothing of it may be taken for the answer to another step. TROUPE_HOSTILE_REPLIES says
// how many such answers; `./dev fuzz-openenv` gives ten thousand.

#include <cstdlib>
#include <map>
#include <random>

#include "actors/openenv/client/client.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/system/system.hpp"
#include "tests/actors/openenv/client/fake_server.hpp"
#include "tests/test.hpp"

namespace troupe::openenv {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr auto reply_timeout = 100ms;
constexpr std::size_t reply_limit = 1 << 20;

/// The right answer: it names the session and the request that it answers.
std::string answer_to(int session, int step) {
  return reply_text(
      reply_kind::observation,
      {{"observation", {{"session", session}, {"step", step}}}, {"reward", step}, {"done", false}});
}

/// Between parts of a reply that never ends: without a pause it would reach its limit of bytes
/// first.
void pause() { std::this_thread::sleep_for(1ms); }

using hostility = void (*)(fake_connection& to, const std::string& right, std::mt19937& random);

void send_truncated(fake_connection& to, const std::string& right, std::mt19937& random) {
  to.send_text(right.substr(0, 1 + random() % (right.size() - 1)));
}
void send_late(fake_connection& to, const std::string& right, std::mt19937&) {
  to.receive();  // nothing, but the client has given up when this returns
  to.send_text(right);
}
void send_twice(fake_connection& to, const std::string& right, std::mt19937& random) {
  to.send_text(right);
  for (auto turns = random() % 2 * (random() % 60); turns > 0; --turns) std::this_thread::yield();
  to.send_text(right);
}
void send_twice_at_once(fake_connection& to, const std::string& right, std::mt19937&) {
  const std::string frame = std::string("\x81\x7e") + static_cast<char>(right.size() >> 8) +
                            static_cast<char>(right.size()) + right;
  to.send_raw(frame + frame);
}
void send_wrong_types(fake_connection& to, const std::string& right, std::mt19937& random) {
  static const std::vector<json::json_pointer> places{
      json::json_pointer("/type"), json::json_pointer("/data"),
      json::json_pointer("/data/observation"), json::json_pointer("/data/reward"),
      json::json_pointer("/data/done")};
  static const std::vector<json> values{"text", json::array({1}), 3.5, "observation"};
  auto reply = json::parse(right);
  const auto place = random() % places.size();
  // A reward of 3.5 would be none.
  reply[places[place]] = values[place == 3 ? random() % 2 : random() % 3];
  to.send_text(reply.dump());
}
void send_too_large(fake_connection& to, const std::string&, std::mt19937& random) {
  to.send_head(0x81, 100'000'000);
  const std::string block(1 << 16, 'x');
  for (int i = random() % 4; i > 0 && to.send_raw(block); --i) {
  }
  to.receive();
}
void send_other_bytes(fake_connection& to, const std::string& right, std::mt19937& random) {
  auto text = right;
  text[random() % text.size()] = static_cast<char>(0xf8 + random() % 8);
  to.send_text(text);
}
void send_for_ever(fake_connection& to, const std::string&, std::mt19937&) {
  to.send_frame(0x01, "{");
  for (int i = 0; i < 2000 && to.send_raw(std::string("\0\1 ", 3)); ++i) pause();
}
void send_pings_for_ever(fake_connection& to, const std::string&, std::mt19937&) {
  for (int i = 0; i < 2000 && to.send_raw(std::string("\x89\0", 2)); ++i) pause();
}
void die(fake_connection&, const std::string&, std::mt19937&) {}
void die_in_a_frame(fake_connection& to, const std::string& right, std::mt19937& random) {
  to.send_head(0x81, right.size());
  to.send_raw(right.substr(0, random() % right.size()));
}
void die_in_a_header(fake_connection& to, const std::string&, std::mt19937&) {
  to.send_raw("\x81\x7e");
}
void die_between_fragments(fake_connection& to, const std::string& right, std::mt19937&) {
  to.send_frame(0x01, right.substr(0, right.size() / 2));
}
void send_binary(fake_connection& to, const std::string& right, std::mt19937&) {
  to.send_frame(0x82, right);
}
void send_masked(fake_connection& to, const std::string& right, std::mt19937&) {
  to.send_raw(std::string("\x81\x85\0\0\0\0", 6) + right.substr(0, 5));
}
void send_reserved(fake_connection& to, const std::string& right, std::mt19937& random) {
  to.send_frame(static_cast<std::uint8_t>(0x83 + random() % 5), right);
}
void send_compressed(fake_connection& to, const std::string& right, std::mt19937&) {
  to.send_frame(0xc1, right);  // nobody agreed on that
}
void send_state(fake_connection& to, const std::string&, std::mt19937&) {
  to.send_text(reply_text(reply_kind::state, {{"episode_id", "e"}, {"step_count", 1}}));
}
void send_nested(fake_connection& to, const std::string&, std::mt19937& random) {
  to.send_text(std::string(65 + random() % 100'000, random() % 2 ? '[' : '{'));
}
void send_close(fake_connection& to, const std::string&, std::mt19937& random) {
  to.send_close(static_cast<std::uint16_t>(1000 + random() % 16), "enough");
}
void send_noise(fake_connection& to, const std::string&, std::mt19937& random) {
  std::string bytes(1 + random() % 200, '\0');
  for (auto& c : bytes) c = static_cast<char>(random());
  bytes[0] = static_cast<char>(0xf0 | static_cast<unsigned char>(bytes[0]));
  to.send_raw(bytes);
}
void send_http(fake_connection& to, const std::string&, std::mt19937&) {
  to.send_raw("HTTP/1.1 500 Internal Server Error\r\n\r\n");
}

constexpr hostility hostilities[] = {send_truncated,
                                     send_late,
                                     send_twice,
                                     send_twice_at_once,
                                     send_wrong_types,
                                     send_too_large,
                                     send_other_bytes,
                                     send_for_ever,
                                     send_pings_for_ever,
                                     die,
                                     die_in_a_frame,
                                     die_in_a_header,
                                     die_between_fragments,
                                     send_binary,
                                     send_masked,
                                     send_reserved,
                                     send_compressed,
                                     send_state,
                                     send_nested,
                                     send_close,
                                     send_noise,
                                     send_http};

/// Right for a few steps, then hostile, then gone.
class hostile_session {
 public:
  explicit hostile_session(std::atomic<int>& sessions) : sessions_(sessions) {}

  void operator()(fake_connection& to) const {
    const int session = ++sessions_;
    std::mt19937 random(static_cast<unsigned>(session));
    const int good = static_cast<int>(random() % 4);
    for (int step = 0; step <= good; ++step) {
      if (to.receive().empty()) return;
      to.send_text(answer_to(session, step));
    }
    if (to.receive().empty()) return;
    hostilities[static_cast<std::size_t>(session) % std::size(hostilities)](
        to, answer_to(session, good + 1), random);
    // A step that took a duplicate for its answer would be given this one's number next.
    for (int step = good + 2; !to.receive().empty(); ++step) to.send_text(answer_to(session, step));
  }

 private:
  std::atomic<int>& sessions_;
};

struct account {
  std::int64_t right = 0;
  std::int64_t wrong = 0;  ///< Answers that were taken for those of another step.
  std::map<failure, std::int64_t> failed;
};

task<account> play_episodes(client games, int episodes) {
  account all;
  auto game = games.open();
  for (int i = 0; i < episodes; ++i) {
    std::optional<int> session;
    try {
      const auto first = co_await game.reset();
      session = first.observation["session"].get<int>();
      for (int step = 1;; ++step) {
        const json action{{"step", step}};
        const auto next = co_await game.step(action);
        const bool right = next.observation["session"] == *session &&
                           next.observation["step"] == step && next.reward == step;
        ++(right ? all.right : all.wrong);
      }
    } catch (const error& e) {
      ++all.failed[e.reason()];
    }
    game.close();
  }
  co_return all;
}

TEST_CASE("openenv client: no hostile reply is taken for the answer to a step",
          "[openenv][hostile]") {
  const char* asked = std::getenv("TROUPE_HOSTILE_REPLIES");
  const int replies = asked ? std::atoi(asked) : 640;
  REQUIRE(replies > 0);
  constexpr int players = 32;
  std::atomic<int> sessions{0};
  fake_server server({.session = hostile_session(sessions), .http = {}});
  troupe::system sys;
  account total;
  {
    client games(
        {.urls = {server.url()}, .reply_timeout = reply_timeout, .reply_bytes_max = reply_limit},
        &sys.metrics());
    std::vector<task<account>> all_players;
    for (int i = 0; i < players; ++i) {
      all_players.push_back(play_episodes(games, (replies + players - 1) / players));
    }
    for (const auto& one : sys.run(all(std::move(all_players)))) {
      total.right += one.right;
      total.wrong += one.wrong;
      for (const auto& [reason, count] : one.failed) total.failed[reason] += count;
    }
  }
  std::string reasons;
  std::int64_t failed = 0;
  for (const auto& [reason, count] : total.failed) {
    reasons += ' ' + std::string(to_string(reason)) + ' ' + std::to_string(count);
    failed += count;
  }
  std::printf(
      "hostile replies %d: right steps %lld, assigned to the wrong step %lld, failures:%s\n",
      sessions.load(), static_cast<long long>(total.right), static_cast<long long>(total.wrong),
      reasons.c_str());
  CHECK(total.wrong == 0);
  CHECK(total.right > replies / 2);
  CHECK(failed >= replies);
  for (const auto reason :
       {failure::timeout, failure::closed, failure::too_large, failure::not_utf8, failure::not_json,
        failure::too_deep, failure::wrong_type, failure::unexpected}) {
    CHECK(total.failed[reason] > 0);
  }
  CHECK(sys.metrics().text().find("troupe_openenv_connections 0") != std::string::npos);
}

}  // namespace
}  // namespace troupe::openenv

#include "actors/openenv/protocol/protocol.hpp"

#include "tests/actors/openenv/protocol/recorded_session.hpp"
#include "tests/test.hpp"

namespace troupe::openenv {
namespace {

using nlohmann::json;

text_fault fault_of(const std::string& text, std::size_t bytes_max = 1 << 20) {
  try {
    parse_reply(text, bytes_max);
  } catch (const bad_text& e) {
    UNSCOPED_INFO(e.what());
    return e.fault();
  }
  throw std::logic_error("accepted: " + text);
}

TEST_CASE("openenv protocol: every recorded reply of real servers is understood", "[openenv]") {
  std::size_t errors = 0, results = 0, states = 0;
  for (const auto* file :
       {"echo_env_ws.txt", "connect4_env_ws.txt", "grid_world_env_ws.txt",
        "openspiel_blackjack_ws.txt", "openspiel_tic_tac_toe_ws.txt", "probe_env_ws.txt"}) {
    for (const auto& [request, text] : recorded_exchanges(file, "(/ws)")) {
      const auto made = parse_reply(text);
      errors += made.kind == reply_kind::error;
      results += made.kind == reply_kind::observation;
      states += made.kind == reply_kind::state;
      if (made.kind == reply_kind::error) CHECK(made.error.code != server_error::other);
    }
  }
  CHECK(errors > 10);
  CHECK(results > 30);
  CHECK(states > 5);
}

TEST_CASE("openenv protocol: rewards are numbers, booleans or null", "[openenv]") {
  const auto with_reward = [](const std::string& reward) {
    return parse_reply(R"({"type":"observation","data":{"observation":{"a":1},"reward":)" + reward +
                       R"(,"done":true,"metadata":{"m":2},"later":0}})")
        .result;
  };
  CHECK(with_reward("0.25").reward == 0.25);
  CHECK(with_reward("-1").reward == -1.0);
  CHECK(with_reward("true").reward == 1.0);
  CHECK_FALSE(with_reward("null").reward);
  CHECK(with_reward("1").ended);
  CHECK(with_reward("1").observation == json{{"a", 1}});
  CHECK(with_reward("1").metadata == json{{"m", 2}});
  CHECK(
      to_json(with_reward("1")) ==
      json{{"observation", {{"a", 1}}}, {"reward", 1.0}, {"done", true}, {"metadata", {{"m", 2}}}});
}

TEST_CASE("openenv protocol: texts of the wrong form are refused by their fault", "[openenv]") {
  CHECK(fault_of("") == text_fault::not_json);
  CHECK(fault_of(R"({"type":"observation","data":{"obser)") == text_fault::not_json);
  CHECK(fault_of("{\"type\":\"state\",\"data\":{\"a\":\"\xff\"}}") == text_fault::not_utf8);
  CHECK(fault_of(std::string(100'000, '[')) == text_fault::too_deep);
  CHECK(fault_of(R"({"type":"state","data":{}})", 10) == text_fault::too_large);
  for (const auto* text :
       {"[]", "3", "{}", R"({"type":7,"data":{}})", R"({"type":"step","data":{}})",
        R"({"type":"state"})", R"({"type":"state","data":[]})",
        R"({"type":"observation","data":{}})",
        R"({"type":"observation","data":{"observation":[],"done":false}})",
        R"({"type":"observation","data":{"observation":{},"reward":1}})",
        R"({"type":"observation","data":{"observation":{},"reward":"1","done":false}})",
        R"({"type":"observation","data":{"observation":{},"reward":1,"done":0}})",
        R"({"type":"observation","data":{"observation":{},"done":false,"metadata":[]}})"}) {
    CHECK(fault_of(text) == text_fault::wrong_type);
  }
  try {
    parse_reply(R"({"type":"observation","data":{"observation":{},"reward":"1","done":false}})");
  } catch (const bad_text& e) {
    CHECK(e.what() == std::string("/data/reward: expected a number, a boolean or null, got \"1\""));
  }
}

TEST_CASE("openenv protocol: an error keeps all that the server said of it", "[openenv]") {
  const auto refusals = recorded_exchanges("connect4_env_ws.txt");
  std::size_t found = 0;
  for (const auto& [request, text] : refusals) {
    const auto made = parse_reply(text);
    if (made.kind != reply_kind::error || made.error.code != server_error::validation_error)
      continue;
    ++found;
    CHECK(made.error.message == "Invalid message");
    CHECK(made.error.details["errors"].size() > 0);
    CHECK(keeps_session(made.error.code));
  }
  CHECK(found > 0);
  CHECK_FALSE(keeps_session(server_error::capacity_reached));
  CHECK_FALSE(keeps_session(server_error::other));
}

TEST_CASE("openenv protocol: requests and replies are written as the real ends write them",
          "[openenv]") {
  CHECK(request_text(request_kind::step, R"({"column":3})") ==
        R"({"type":"step","data":{"column":3}})");
  CHECK(request_text(request_kind::state, "") == R"({"type":"state"})");
  CHECK(reply_text(reply_kind::state, {{"step_count", 1}}) ==
        R"({"type":"state","data":{"step_count":1}})");
  const auto text = error_text(server_error::unknown_type, "Unknown message type: nosuch");
  CHECK(
      json::parse(text) ==
      json::parse(
          R"({"type":"error","data":{"message":"Unknown message type: nosuch","code":"UNKNOWN_TYPE"}})"));
  CHECK(parse_reply(text).error.code == server_error::unknown_type);
}

}  // namespace
}  // namespace troupe::openenv

#include "actors/openenv/server/conversation.hpp"

#include <nlohmann/json.hpp>

#include "actors/worlds/registry.hpp"
#include "tests/actors/environments/scripted_environment.hpp"
#include "tests/test.hpp"

namespace troupe::openenv_server {
namespace {

using nlohmann::json;

conversation on(const std::string& id) { return conversation(make_vector_environment(id, 1)); }

json said(conversation& to, const std::string& text) { return json::parse(to.to(text).text); }

TEST_CASE("conversation: an episode") {
  auto with = on("CartPole-v1");
  const auto first = said(with, R"({"type":"reset","data":{"seed":7,"episode_id":"ep-001"}})");
  CHECK(first["type"] == "observation");
  CHECK(first["data"]["observation"]["obs"].size() == 4);
  CHECK(first["data"]["reward"].is_null());
  CHECK(first["data"]["done"] == false);
  CHECK(said(with, R"({"type":"state"})") ==
        json::parse(R"({"type":"state","data":{"episode_id":"ep-001","step_count":0}})"));
  json last;
  int steps = 0;
  do {
    last = said(with, R"({"type":"step","data":{"action":1}})")["data"];
    CHECK(last["reward"] == 1.0);
    ++steps;
  } while (!last["done"]);
  CHECK(last["observation"]["terminated"] == true);
  CHECK(last["observation"]["truncated"] == false);
  CHECK(said(with, R"({"type":"state"})")["data"]["step_count"] == steps);
  CHECK(said(with, R"({"type":"reset","data":{"seed":7}})")["data"] == first["data"]);
}

TEST_CASE("conversation: a seed may be any number of 64 bits") {
  auto with = on("CartPole-v1");
  const auto begun = [&](const char* seed) {
    return said(with, std::string(R"({"type":"reset","data":{"seed":)") + seed + "}}")["data"];
  };
  const auto largest = begun("18446744073709551615");
  CHECK(largest["observation"]["obs"].size() == 4);
  CHECK(begun("18446744073709551615") == largest);
  CHECK(begun("9223372036854775808") != largest);
  CHECK(begun("-1")["code"] == "VALIDATION_ERROR");
}

TEST_CASE("conversation: the envelope is that of OpenEnv's server") {
  auto with = on("CartPole-v1");
  const auto before = said(with, R"({"type":"state"})");
  CHECK(before["data"] == json::parse(R"({"episode_id":null,"step_count":0})"));
  CHECK(said(with, R"({"type":"reset"})")["type"] == "observation");
  CHECK(said(with, R"({"type":"reset","data":{"seed":null,"difficulty":"hard"}})")["type"] ==
        "observation");
  CHECK(said(with, R"({"type":"state"})")["data"]["episode_id"].get<std::string>().size() == 36);
  CHECK(said(with, R"({"type":"mcp","data":{"jsonrpc":"2.0","method":"tools/list","id":1}})") ==
        json::parse(R"({"type":"mcp","data":{"jsonrpc":"2.0","id":1,"error":{"code":-32603,
                        "message":"Environment does not support MCP","data":null}}})"));
  const auto goodbye = with.to(R"({"type":"close"})");
  CHECK(goodbye.text.empty());
  CHECK(goodbye.closes);
}

TEST_CASE("conversation: what is wrong with a message is told, and it goes on") {
  auto with = on("CartPole-v1");
  const auto error = [&](const char* text, bool closes = false) {
    const auto got = with.to(text);
    CHECK(got.closes == closes);
    const auto message = json::parse(got.text);
    CHECK(message.at("type") == "error");
    return message.at("data");
  };
  CHECK(error("{not json")["code"] == "INVALID_JSON");
  CHECK(error("")["code"] == "INVALID_JSON");
  CHECK(error("{\"type\":\"reset\",\"data\":{\"episode_id\":\"\xff\"}}")["code"] == "INVALID_JSON");
  CHECK(error(std::string(100'000, '[').c_str())["code"] == "INVALID_JSON");
  CHECK(error(R"({"type":"nosuch"})") ==
        json::parse(R"({"message":"Unknown message type: nosuch","code":"UNKNOWN_TYPE"})"));
  CHECK(error(R"({"foo":1})")["message"] == "Unknown message type: ");
  CHECK(error(R"({"type":7})")["code"] == "UNKNOWN_TYPE");
  CHECK(error(R"({"type":"step","data":{"action":0}})") ==
        json::parse(R"({"message":"step: expected a reset before the first step",
                        "code":"EXECUTION_ERROR"})"));
  with.to(R"({"type":"reset"})");
  CHECK(error(R"({"type":"step"})") ==
        json::parse(R"({"message":"Invalid message","code":"VALIDATION_ERROR","errors":[
            {"type":"missing","loc":["data"],"msg":"Field required","input":{"type":"step"}}]})"));
  const auto place = [&](const char* text) { return error(text)["errors"][0]["loc"]; };
  CHECK(place(R"({"type":"step","data":{"action":7}})") == json{"action"});
  CHECK(place(R"({"type":"step","data":{"action":{"action":1}}})") == json{"action"});
  CHECK(place(R"({"type":"step","data":{"action":1},"request_id":"r1"})") == json{"request_id"});
  CHECK(place(R"({"type":"state","data":{}})") == json{"data"});
  CHECK(place(R"({"type":"reset","data":[1]})") == json{"data"});
  CHECK(place(R"({"type":"reset","data":{"seed":-5}})") == json{"data", "seed"});
  CHECK(place(R"({"type":"reset","data":{"episode_id":7}})") == json{"data", "episode_id"});
  CHECK(said(with, R"({"type":"step","data":{"action":0}})")["type"] == "observation");
  CHECK(error("[1,2]", true)["code"] == "SESSION_ERROR");
}

TEST_CASE("conversation: an environment's failure is told whole") {
  const auto make = [] {
    return scripted_environment({.on_step = [](auto, auto, auto) -> step_result {
      throw std::runtime_error("out of \"fuel\" \x01\xff");
    }});
  };
  conversation with(std::make_unique<vector_env<scripted_environment>>(1, make));
  with.to(R"({"type":"reset"})");
  const auto told = said(with, R"({"type":"step","data":{"action":0}})");
  CHECK(told["data"]["code"] == "EXECUTION_ERROR");
  CHECK(told["data"]["message"].get<std::string>().find("out of \"fuel\"") != std::string::npos);
  CHECK(said(with, R"({"type":"reset"})")["type"] == "observation");
}

}  // namespace
}  // namespace troupe::openenv_server

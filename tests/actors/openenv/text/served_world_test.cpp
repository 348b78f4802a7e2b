#include "actors/openenv/text/served_world.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "actors/openenv/server/server.hpp"
#include "actors/openenv/text/tool_text.hpp"
#include "actors/worlds/registry.hpp"
#include "runtime/system/system.hpp"
#include "tests/actors/openenv/client/fake_server.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe::openenv {
namespace {

using nlohmann::json;

TEST_CASE("served worlds: an observation tells the kind of its environment") {
  CHECK(kind_of({{"echoed_message", "hi"}, {"message_length", 2}}) == "echo");
  CHECK(kind_of({{"stdout", ""}, {"stderr", ""}, {"exit_code", 0}}) == "coding");
  CHECK(kind_of({{"prompt", ""}, {"messages", json::array()}, {"current_player_id", 0}}) ==
        "textarena");
  CHECK(kind_of({{"info_state", {0}}, {"legal_actions", {0}}}) == "openspiel");
  CHECK(kind_of({{"board", "..."}}) == "");
  CHECK(kind_of(json::array()) == "");
}

TEST_CASE("served worlds: a description says how replies become actions") {
  const auto view = chat_view_of(json::parse(R"({
    "system": "Guess.", "action": {"guess": "$reply", "move": {"at": "$number"}, "kind": "g"},
    "show": "{feedback} {left} left"})"));
  CHECK(view.system_prompt == "Guess.");
  const auto action = view.parse("  at 7 \n");
  CHECK(action.action == "at 7");
  CHECK(view.act(action) == json{{"guess", "at 7"}, {"move", {{"at", 7}}}, {"kind", "g"}});
  CHECK_THROWS_WITH(view.act(view.parse("seven")), Catch::Contains("expected a number"));
  CHECK_FALSE(view.parse(" \n").well_formed());
  CHECK(view.show({.observation = {{"feedback", "cold"}, {"left", 3}}}) == "cold 3 left");
  CHECK_THROWS_WITH(view.show({.observation = {{"left", 3}}}), Catch::Contains("\"feedback\""));
  const auto tagged =
      chat_view_of({{"action", {{"m", "$reply"}}}, {"show", "x"}, {"parse", "action"}});
  CHECK(tagged.act(tagged.parse("so <action>go</action>")) == json{{"m", "go"}});
}

TEST_CASE("served worlds: a wrong description is refused by its member") {
  const auto refuse = [](const char* text, const char* expected) {
    CHECK_THROWS_WITH(chat_view_of(json::parse(text)), Catch::Contains(expected));
  };
  refuse("[]", "expected an object");
  refuse(R"({"show": "x"})", "action: expected an object, got null");
  refuse(R"({"action": {}})", "show: expected a text");
  refuse(R"({"action": {}, "show": "x", "parse": "yaml"})", "parse: expected text, action");
  refuse(R"({"action": {}, "show": "x", "shows": "y"})", "shows: expected system, parse");
}

TEST_CASE("served worlds: addresses and options") {
  CHECK(names_servers("openenv:http://localhost:8000"));
  CHECK_FALSE(names_servers("blackjack"));
  CHECK_THROWS_AS(worlds_of("openenv:", "{}", nullptr), std::invalid_argument);
  CHECK_THROWS_WITH(worlds_of("openenv:http://localhost:1", R"({"reply": 1})", nullptr),
                    Catch::Contains("task.world_options"));
}

/// Answers as a world that wants the number 3, and whatever else it is asked with what it shows.
void guess(fake_connection& to) {
  for (;;) {
    const auto text = to.receive();
    if (text.empty() || text == request_text(request_kind::close, "")) return;
    const auto asked = json::parse(text);
    const bool is_step = asked.at("type") == "step";
    const bool is_right = is_step && asked.at("data").at("number") == 3;
    const json data{{"observation", {{"hint", is_right ? "yes" : "another"}}},
                    {"reward", is_step ? json(is_right ? 1.0 : 0.0) : json()},
                    {"done", is_right}};
    to.send_text(reply_text(reply_kind::observation, data));
  }
}

task<> play_guesses(text_environment_maker make) {
  const auto world = make();
  const auto first = co_await world->reset({.seed = 5});
  CHECK(first.system == "Guess a number.");
  CHECK(first.shown.words == "another");
  const auto words = co_await world->step("three");
  CHECK(words.refused == "expected a number");
  const auto wrong = co_await world->step("2");
  CHECK(wrong.shown.words == "another");
  const auto right = co_await world->step("it is 3");
  CHECK(right.ended);
  CHECK(right.reward == 1);
}

TEST_CASE("served worlds: any environment is played by its description") {
  const temporary_folder folder;
  const auto path = folder.path / "guess.json";
  std::ofstream(path) << R"({"system": "Guess a number.", "action": {"number": "$number"},
                             "show": "{hint}"})";
  fake_server server({.session = guess, .http = {}});
  troupe::system sys;
  const auto options = json{{"view", path.string()}}.dump();
  sys.run(play_guesses(worlds_of("openenv:" + server.url(), options, nullptr)));
}

TEST_CASE("served worlds: an unknown environment asks for a description") {
  fake_server server({.session = guess, .http = {}});
  CHECK_THROWS_WITH(require_words("openenv:" + server.url(), "{}"),
                    Catch::Contains("with a description, got {\"hint\":\"another\"}"));
}

/// Answers as an environment whose actions are calls of tools, or as one that has none.
struct tool_server {
  json tools = json::array();

  void operator()(fake_connection& to) const {
    for (auto text = to.receive(); !text.empty(); text = to.receive()) {
      const auto asked = json::parse(text);
      if (asked.at("type") == "close") return;
      if (asked.at("type") == "mcp") {
        const json result{{"jsonrpc", "2.0"}, {"id", 1}, {"result", {{"tools", tools}}}};
        to.send_text(reply_text(reply_kind::mcp, result));
        continue;
      }
      json seen{{"metadata", {{"status", "ready"}}}};
      if (asked.at("type") == "step") {
        CHECK(asked.at("data").at("type") == "call_tool");
        seen["tool_name"] = asked.at("data").at("tool_name");
        seen["result"] = {{"data", asked.at("data").at("arguments")}};
        seen["error"] = nullptr;
      }
      to.send_text(reply_text(reply_kind::observation,
                              {{"observation", seen}, {"reward", 0}, {"done", false}}));
    }
  }
};

json echo_tool(const char* schema_name) {
  const json schema{{"type", "object"}, {"properties", {{"message", {{"type", "string"}}}}}};
  return {{"name", "echo_message"}, {"description", "Echo a message."}, {schema_name, schema}};
}

task<> call_a_tool(text_environment_maker make) {
  const auto world = make();
  const auto first = co_await world->reset({.seed = 5});
  CHECK_THAT(
      first.system,
      Catch::Contains(R"({"name":"echo_message","description":"Echo a message.","parameters":{)"
                      R"("properties":{"message":{"type":"string"}},"type":"object"}})") &&
          Catch::Contains("<tool_call>"));
  const auto next = co_await world->step(
      R"(<tool_call>{"name": "echo_message", "arguments": {"message": "hi"}}</tool_call>)");
  CHECK(next.refused.empty());
  CHECK(next.shown.words == R"({"message":"hi"})");
}

TEST_CASE("served worlds: an environment that lists tools is played by calling them") {
  for (const char* options : {"{}", R"({"view": "tools"})"}) {
    CAPTURE(options);
    const fake_server server(
        {.session = tool_server{json::array({echo_tool("inputSchema")})}, .http = {}});
    troupe::system sys;
    sys.run(call_a_tool(worlds_of("openenv:" + server.url(), options, nullptr)));
  }
  const fake_server none({.session = tool_server{}, .http = {}});
  CHECK_THROWS_WITH(require_words("openenv:" + none.url(), R"({"view": "tools"})"),
                    Catch::Contains("expected MCP tools"));
}

TEST_CASE("served worlds: both spellings of a tool's schema are told alike") {
  CHECK(tools_in_words(json::array({echo_tool("inputSchema")})) ==
        tools_in_words(json::array({echo_tool("input_schema")})));
  const json unnamed{{"title", "no name"}};
  CHECK(tools_in_words(json::array({echo_tool("inputSchema"), unnamed, 7})) ==
        tools_in_words(json::array({echo_tool("inputSchema")})));
}

/// Answers as a game of OpenSpiel of that name.
struct openspiel_server {
  std::string game;
  json observation;

  void operator()(fake_connection& to) const {
    for (auto text = to.receive(); !text.empty(); text = to.receive()) {
      const auto asked = json::parse(text);
      if (asked.at("type") == "close") return;
      if (asked.at("type") == "state") {
        to.send_text(reply_text(reply_kind::state, {{"game_name", game}}));
      } else {
        to.send_text(reply_text(reply_kind::observation,
                                {{"observation", observation}, {"reward", 0}, {"done", false}}));
      }
    }
  }
};

task<std::string> first_words_of(text_environment_maker make) {
  const auto world = make();
  const auto first = co_await world->reset({.seed = 5});
  co_return first.shown.words;
}

std::string told_words(const openspiel_server& playing, const char* options = "{}") {
  const fake_server server({.session = playing, .http = {}});
  troupe::system sys;
  return sys.run(first_words_of(worlds_of("openenv:" + server.url(), options, nullptr)));
}

TEST_CASE("served worlds: a game of OpenSpiel is told in words, or it is said why it can't be") {
  std::vector<int> cards(30);
  cards[0] = cards[2] = 1;
  const json leduc{{"info_state", cards}, {"legal_actions", {1, 2}}};
  CHECK_THAT(told_words({"leduc_poker", leduc}), Catch::Contains("You hold a jack"));

  const openspiel_server go{"go", {{"info_state", {1, 0}}, {"legal_actions", {0, 1}}}};
  CHECK_THROWS_WITH(told_words(go), Catch::Contains("\"go\" can't be told in words") &&
                                        Catch::Contains("leduc_poker"));
  CHECK(told_words(go, R"({"view": "openspiel"})") == "info_state: [1,0]\nLegal actions: [0,1]");
  auto drawn = go;
  drawn.observation["metadata"] = {{"board", "X.O"}};
  drawn.observation["game_phase"] = "playing";
  CHECK(told_words(drawn) == "X.O\nLegal actions: [0,1]");
}

TEST_CASE("served worlds: options of servers are checked before anything is started") {
  const auto refuse = [](const char* world, const char* options, const char* expected) {
    CHECK_THROWS_WITH(worlds_of(world, options, nullptr), Catch::Contains(expected));
  };
  refuse("openenv:http://localhost:1", R"({"command": ["true"]})", "a name without an address");
  refuse("openenv:http://localhost:1", R"({"servers": 2})", "expected command or image");
  refuse("openenv:mine", R"({"command": ["a"], "image": "b"})", "image");
  refuse("openenv:http://localhost:1", R"({"keepalive": 0})", "keepalive");
  refuse("openenv:http://a b", "{}", "expected the address of a server");
}

}  // namespace
}  // namespace troupe::openenv

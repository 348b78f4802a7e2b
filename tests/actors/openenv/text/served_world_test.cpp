#include "actors/openenv/text/served_world.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "actors/openenv/server/server.hpp"
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

/// Answers as a world that wants the number 3.
void guess(fake_connection& to) {
  for (;;) {
    const auto text = to.receive();
    if (text.empty() || text == request_text(request_kind::close, "")) return;
    const auto asked = json::parse(text);
    const bool reset = asked["type"] == "reset";
    const json guessed = reset ? json() : asked["data"]["number"];
    const json data{{"observation", {{"hint", guessed == 3 ? "yes" : "another"}}},
                    {"reward", reset ? json() : json(guessed == 3 ? 1.0 : 0.0)},
                    {"done", guessed == 3}};
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

task<> meet_the_unknown(text_environment_maker make) {
  const auto world = make();
  std::string told;
  try {
    co_await world->reset({.seed = 5});
  } catch (const std::invalid_argument& error) {
    told = error.what();
  }
  CHECK_THAT(told, Catch::Contains("with a description, got {\"hint\":\"another\"}"));
}

TEST_CASE("served worlds: an unknown environment asks for a description") {
  fake_server server({.session = guess, .http = {}});
  troupe::system sys;
  sys.run(meet_the_unknown(worlds_of("openenv:" + server.url(), "{}", nullptr)));
}

}  // namespace
}  // namespace troupe::openenv

#include "actors/openenv/client/view_discovery.hpp"

#include <limits>
#include <map>

#include "runtime/system/system.hpp"
#include "tests/actors/openenv/client/fake_server.hpp"
#include "tests/runtime/support.hpp"
#include "tests/test.hpp"

namespace troupe::openenv {
namespace {

using Catch::Contains;
using nlohmann::json;

json integer() { return {{"type", "integer"}}; }
json integer(int low, int high) {
  return {{"type", "integer"}, {"minimum", low}, {"maximum", high}};
}
json number() { return {{"type", "number"}}; }
json list_schema_of(json items) { return {{"type", "array"}, {"items", std::move(items)}}; }

/// A schema as Pydantic writes it, in which every action and observation may have metadata.
json pydantic_schema(json action, const json& required, json observation = json::object()) {
  action["metadata"] = {{"type", "object"}};
  return {{"action", {{"type", "object"}, {"properties", action}, {"required", required}}},
          {"observation", {{"type", "object"}, {"properties", observation}}}};
}

server_description described(json schema, std::vector<json> observations) {
  return {
      .url = "http://there", .schema = std::move(schema), .observations = std::move(observations)};
}

json completed_view(const server_description& from, const json& asked = json::object()) {
  return json(to_json(complete_view(from, read_view(asked, "view")).view));
}

std::string refusal_of_view(const server_description& from, const json& asked = json::object()) {
  try {
    return "accepted: " + completed_view(from, asked).dump();
  } catch (const error& e) {
    return e.what();
  }
}

json openspiel_seen(std::vector<int> legal) {
  return {{"info_state", {0.0, 1.0, 0.0}},   {"legal_actions", std::move(legal)},
          {"game_phase", "initial"},         {"current_player_id", 0},
          {"opponent_last_action", nullptr}, {"metadata", json::object()}};
}

json openspiel_schema() {
  return pydantic_schema(
      {{"action_id", integer()}, {"game_name", {{"type", "string"}, {"default", "catch"}}}},
      {"action_id"});
}

TEST_CASE("view discovery: a game of OpenSpiel is its info_state and its numbered actions") {
  const auto seen = described(openspiel_schema(), {openspiel_seen({1, 2}), openspiel_seen({0, 1})});
  const auto found = complete_view(seen);
  CHECK(json(to_json(found.view)) ==
        json{{"observation", {{{"pointer", "/info_state"}, {"shape", {3}}}}},
             {"action", {{{"pointer", "/action_id"}, {"n", 3}}}},
             {"legal_actions", "/legal_actions"},
             {"illegal_reward", -1.0}});
  CHECK(found.left_out ==
        std::vector<std::string>{"/current_player_id", "/game_phase", "/opponent_last_action"});
}

TEST_CASE("view discovery: a number of actions that nobody tells is asked for by its option") {
  const auto seen = described(openspiel_schema(), {openspiel_seen({89, 4178})});
  CHECK_THAT(refusal_of_view(seen),
             Contains("http://there") && Contains("/action_id: expected an integer with minimum") &&
                 Contains(R"(env.options.view.action={"pointer":"/action_id","n":COUNT})"));
  CHECK(completed_view(seen, {{"action", {{"n", 4674}}}})["action"] ==
        json{{{"pointer", "/action_id"}, {"n", 4674}}});
  auto chess = seen;
  chess.game = "chess";
  CHECK(completed_view(chess)["action"][0]["n"] == 4674);
  // The same for an action without a list of legal ones.
  const auto plain =
      described(pydantic_schema({{"gear", integer()}}, {"gear"}), {{{"speed", 1.5}}});
  CHECK_THAT(refusal_of_view(plain), Contains(R"({"pointer":"/gear","n":COUNT})"));
  CHECK(completed_view(plain,
                       {{"action", {{"pointer", "/gear"}, {"n", 5}, {"start", 1}}}})["action"] ==
        json{{{"pointer", "/gear"}, {"n", 5}, {"start", 1}}});
}

/// A picture of bytes [20, 16, 3] as nested lists.
json picture(int value) {
  const std::vector<json> row(16, json::array({value, value, value}));
  return std::vector<json>(20, json(row));
}

server_description rover() {
  const json direction{{"$ref", "#/$defs/Direction"}};
  auto schema =
      pydantic_schema({{"direction", direction},
                       {"speed", {{"type", "number"}, {"minimum", 0}, {"maximum", 1}}},
                       {"comment", {{"type", "string"}, {"default", ""}}}},
                      {"direction", "speed"},
                      {{"position", {{"$ref", "#/$defs/Position"}}},
                       {"camera", list_schema_of(list_schema_of(list_schema_of(integer())))},
                       {"lives", integer(0, 3)}});
  schema["action"]["$defs"]["Direction"] = {{"type", "string"}, {"enum", {"left", "right"}}};
  schema["observation"]["$defs"]["Position"] = {
      {"type", "object"}, {"properties", {{"x", {{"type", "number"}, {"minimum", 0}}}}}};
  const json seen{{"position", {{"x", 2.5}, {"y", -1.0}}},
                  {"camera", picture(255)},
                  {"lives", 2},
                  {"message", "driving"},
                  {"target", nullptr},
                  {"truncated", false}};
  return described(std::move(schema), {seen});
}

TEST_CASE("view discovery: numbers and a picture in a dictionary become a Dict") {
  const auto found = complete_view(rover());
  CHECK(json(to_json(found.view)) ==
        json{{"observation",
              {{{"pointer", "/camera"}, {"shape", {20, 16, 3}}, {"type", "uint8"}},
               {{"pointer", "/lives"}, {"n", 4}},
               {{"pointer", "/position/x"}, {"low", 0}},
               {{"pointer", "/position/y"}}}},
             {"action",
              {{{"pointer", "/direction"}, {"values", {"left", "right"}}},
               {{"pointer", "/speed"}, {"low", 0}, {"high", 1}}}}});
  CHECK(found.left_out ==
        std::vector<std::string>{"/message (a text)", "/target (null in the first observation)"});

  const auto view = numeric_view_of(found.view, spec_of(found.view, "Rover"));
  std::vector<float> obs(view.spec.observation_space.flat_size());
  REQUIRE(obs.size() == 20 * 16 * 3 + 4 + 2);
  view.observe(rover().observations.front(), obs);
  CHECK(obs[0] == 255);
  CHECK(std::vector<float>(obs.end() - 6, obs.end()) == std::vector<float>{0, 0, 1, 0, 2.5, -1});
  const std::int64_t right = 1;
  const float half = 0.5;
  CHECK(view.act(action_view({&right, 1}, {&half, 1})) ==
        json{{"direction", "right"}, {"speed", 0.5}});
}

TEST_CASE("view discovery: flat pictures, masks, lists of choices and of numbers") {
  const json screen(std::vector<int>(2 * 3, 7));
  const auto atari = described(pydantic_schema({{"action_id", integer()}}, {"action_id"}),
                               {{{"screen", screen},
                                 {"screen_shape", {2, 3}},
                                 {"lives", 5},
                                 {"legal_actions", {0, 1, 2}},
                                 {"frame_number", 12}}});
  CHECK(completed_view(atari)["observation"] == json{{{"pointer", "/screen"}, {"shape", {2, 3}}}});
  CHECK(completed_view(atari)["action"][0]["n"] == 3);

  const auto sumo = described(pydantic_schema({{"phase_id", integer()}}, {"phase_id"}),
                              {{{"observation", {0.5, 1.0}},
                                {"observation_shape", {2}},
                                {"action_mask", {1, 0, 1, 1}},
                                {"sim_time", 5.0}}});
  CHECK(completed_view(sumo)["action"][0]["n"] == 4);
  CHECK(completed_view(sumo)["action_mask"] == "/action_mask");

  auto levers = list_schema_of(integer(1, 3));
  levers["minItems"] = levers["maxItems"] = 2;
  const auto machine =
      described(pydantic_schema({{"levers", levers}}, {"levers"}), {{{"heat", 20.5}}});
  CHECK(completed_view(machine)["action"] ==
        json{{{"pointer", "/levers"}, {"n", {3, 3}}, {"start", {1, 1}}}});

  const auto finrl =
      described(pydantic_schema({{"actions", list_schema_of(number())}}, {"actions"}),
                {{{"state", {1.0, 2.0}}, {"portfolio_value", 3.0}, {"date", "1"}}});
  CHECK_THAT(refusal_of_view(finrl),
             Contains("/actions") && Contains("env.options.view.action.shape"));
  CHECK(completed_view(finrl, {{"action", {{"shape", {30}}, {"low", -1}, {"high", 1}}}}) ==
        json{{"observation", {{{"pointer", "/state"}, {"shape", {2}}}}},
             {"action", {{{"pointer", "/actions"}, {"shape", {30}}, {"low", -1}, {"high", 1}}}}});
}

TEST_CASE("view discovery: what is no number, or has no fixed size, is left out or refused") {
  const auto growing =
      described(pydantic_schema({{"go", {{"type", "boolean"}}}}, {"go"}),
                {{{"path", {1, 2}}, {"speed", 1.0}}, {{"path", {1, 2, 3}}, {"speed", 2.0}}});
  const auto found = complete_view(growing);
  CHECK(found.view.observation.size() == 1);
  CHECK(found.view.action[0].values == json{false, true});
  REQUIRE(found.left_out.size() == 1);
  CHECK_THAT(found.left_out[0], Contains("/path") && Contains("2 numbers, and then 3"));
  CHECK_THAT(refusal_of_view(growing, {{"observation", "/path"}}), Contains("/path (its size"));
  CHECK_THAT(
      refusal_of_view(growing, {{"observation", "/pth"}}),
      Contains("/pth: expected a value of the first observation") && Contains("path, speed"));
  CHECK_THAT(refusal_of_view(growing, {{"observation", {{"pointer", "/speed"}, {"shape", {2}}}}}),
             Contains("/speed: shape: expected 1 numbers"));

  const auto words = described(pydantic_schema({{"message", {{"type", "string"}}}}, {"message"}),
                               {{{"text", "hello"}}});
  CHECK_THAT(refusal_of_view(words), Contains("/message: expected a number, a choice or a list") &&
                                         Contains("env.options.view.constants"));
  const auto mute =
      described(pydantic_schema({{"go", integer(0, 1)}}, {"go"}), {{{"text", "hello"}}});
  CHECK_THAT(refusal_of_view(mute), Contains("expected numbers or lists of numbers") &&
                                        Contains("task.world=openenv:URL"));
  const auto tools = described(pydantic_schema(json::object(), json::array()), {json::object()});
  CHECK_THAT(refusal_of_view(tools), Contains("worlds of words and tools"));
}

TEST_CASE("view discovery: schemas without an end, or of unusable numbers, are refused") {
  const json node{{"type", "object"},
                  {"properties", {{"next", {{"$ref", "#/$defs/node"}}}, {"move", integer(0, 1)}}},
                  {"required", {"next", "move"}}};
  auto endless = pydantic_schema({{"first", {{"$ref", "#/$defs/node"}}}}, {"first"});
  endless["action"]["$defs"]["node"] = node;
  const json seen{{"speed", 1.0}};
  CHECK_THAT(refusal_of_view(described(endless, {seen})),
             Contains("/next/next") && Contains("env.options.view.action"));

  const json lists{{"type", "array"}, {"items", {{"$ref", "#/$defs/lists"}}}};
  auto nested = pydantic_schema({{"moves", {{"$ref", "#/$defs/lists"}}}}, {"moves"},
                                {{"speed", {{"$ref", "#/$defs/lists"}}}});
  nested["action"]["$defs"]["lists"] = nested["observation"]["$defs"]["lists"] = lists;
  CHECK_THAT(refusal_of_view(described(nested, {seen})),
             Contains("/moves: expected a list of numbers"));
  CHECK(completed_view(described(nested, {seen}), {{"action", {{"pointer", "/moves"}, {"n", 2}}}})
            .at("observation") == json::parse(R"([{"pointer": "/speed"}])"));

  const auto with_bounds = [&](json low, json high) {
    const json bounded{{"type", "integer"}, {"minimum", low}, {"maximum", high}};
    return refusal_of_view(described(pydantic_schema({{"seed", bounded}}, {"seed"}), {seen}));
  };
  const auto many = Contains("/seed: expected an integer with at most 65536 values");
  CHECK_THAT(with_bounds(0, 4294967295), many);
  CHECK_THAT(with_bounds(std::numeric_limits<std::int64_t>::min(),
                         std::numeric_limits<std::int64_t>::max()),
             many);
  CHECK_THAT(with_bounds(0, std::numeric_limits<std::uint64_t>::max()),
             Contains("/seed: expected an integer with minimum and maximum"));
  CHECK_THAT(with_bounds(-1e300, 1e300), many);
  CHECK_THAT(with_bounds(1, 65536), Contains("accepted"));

  CHECK_THAT(refusal_of_view(described({{"action", nullptr}, {"observation", {1}}}, {seen})),
             Contains("/schema: /action/properties: expected a number"));
}

TEST_CASE("views: an observation's choice is an integer of its choices") {
  const auto from =
      described(pydantic_schema({{"go", integer(0, 1)}}, {"go"}, {{"level", integer(1, 3)}}),
                {{{"level", 2}}});
  const auto found = complete_view(from).view;
  const auto view = numeric_view_of(found, spec_of(found, "Levels"));
  std::vector<float> obs(3);
  view.observe({{"level", 3}}, obs);
  CHECK(obs == std::vector<float>{0, 0, 1});
  CHECK_THROWS_WITH(view.observe({{"level", 1.6}}, obs),
                    Contains("/data/observation/level: expected integers, got 1.6"));
  for (const json& level : {json(0), json(4), json(-1e30), json(1e30)})
    CHECK_THROWS_WITH(view.observe({{"level", level}}, obs), Contains("expected one of 3 choices"));
}

TEST_CASE("views: a wrong member is refused by its pointer") {
  const auto refuse = [](const char* text, const char* expected) {
    CHECK_THROWS_WITH(read_view(json::parse(text), "view"), Contains(expected));
  };
  refuse("[]", "view: expected an object");
  refuse(R"({"observations": "/a"})", "view/observations: expected no such member; known are");
  refuse(R"({"observation": "a"})", "view/observation: expected a JSON pointer");
  refuse(R"({"observation": []})", "view/observation: expected at least one part");
  refuse(R"({"observation": ["/a", "/a"]})", "view/observation/1: expected another pointer");
  refuse(R"({"observation": [{"pointer": "/a", "shape": [0]}]})",
         "view/observation/0/shape: expected a list of sizes > 0, got [0]");
  refuse(R"({"observation": {"pointer": "/a", "type": "int"}})", "view/observation/type");
  refuse(R"({"action": {"n": 0}})", "view/action/n: expected a number of choices > 0");
  refuse(R"({"action": {"n": 2, "values": [1]}})", "view/action/values: expected none beside n");
  refuse(R"({"action": {"low": "x"}})", "view/action/low: expected a number");
  refuse(R"({"constants": 1})", "view/constants: expected an object");
  refuse(R"({"legal_actions": "/a", "action_mask": "/b"})", "view/action_mask: expected none");
  refuse(R"({"illegal_reward": null})", "view/illegal_reward: expected a number");
  refuse(R"({"action": ["/a/b", "/a"]})", R"(view/action: expected no member within another one)");
  refuse(R"({"action": {"pointer": "/a/b", "n": 2}, "constants": {"a": 1}})", R"(got "/a/b")");
  CHECK(read_view(json::parse(R"({"action": {"n": 2}, "constants": {"a": 1}})"), "view")
            .action[0]
            .pointer.empty());
}

TEST_CASE("view discovery: a number of actions that is not that of the server is refused") {
  const auto seen = described(openspiel_schema(), {openspiel_seen({0}), openspiel_seen({0, 1})});
  CHECK_THAT(refusal_of_view(seen, {{"action", {{"n", 1}}}}),
             Contains("http://there: env.options.view.action: /action_id: n: expected the number "
                      "of all actions from 0 on, of which 1 is legal in an observation "
                      "(/legal_actions), got 1"));
  CHECK_THAT(refusal_of_view(seen, {{"action", {{"n", 2}, {"start", 1}}}}),
             Contains("from 1 on, of which 0 is legal"));
  CHECK_THAT(refusal_of_view(seen, {{"action", {{"n", 5}}}}), Contains("accepted"));
  // The same for a mask, whose size is the number of actions.
  const auto masked = described(pydantic_schema({{"phase", integer()}}, {"phase"}),
                                {{{"queue", {0.5, 1.0}}, {"action_mask", {1, 0, 1}}}});
  for (const int n : {1, 4})
    CHECK_THAT(refusal_of_view(masked, {{"action", {{"n", n}}}}),
               Contains("n: expected 3, the size of /action_mask in an observation, got " +
                        std::to_string(n)));
  CHECK_THAT(refusal_of_view(masked, {{"action", {{"n", 3}}}}), Contains("accepted"));
}

TEST_CASE("view discovery: a first observation that the view can't show is refused") {
  const auto schema = pydantic_schema({{"go", integer(0, 1)}}, {"go"}, {{"level", integer(0, 3)}});
  CHECK_THAT(refusal_of_view(described(schema, {{{"level", 7}}})),
             Contains("http://there: the first observation does not fit the view") &&
                 Contains("/level: expected one of 4 choices, got 7"));
  CHECK_THAT(refusal_of_view(described(schema, {{{"level", 2}, {"heat", 1e300}}})),
             Contains("/heat: expected numbers that a 32-bit float has"));
}

TEST_CASE("views: what check-env prints is read again as the same view") {
  for (const auto& from :
       {rover(), described(openspiel_schema(), {openspiel_seen({0, 1, 2, 3, 4})})}) {
    const auto view = complete_view(from).view;
    CHECK(to_json(read_view(to_json(view), "view")) == to_json(view));
    CHECK(to_json(complete_view(from, read_view(to_json(view), "view")).view) == to_json(view));
  }
}

TEST_CASE("views: an observation that doesn't fit is told by its pointer") {
  const auto from = described(openspiel_schema(), {openspiel_seen({0, 1})});
  const auto found = complete_view(from).view;
  const auto view = numeric_view_of(found, spec_of(found, "Game"));
  std::vector<float> obs(3);
  const auto refuse = [&](json seen, const char* expected) {
    CHECK_THROWS_WITH(view.observe(seen, obs), Contains(expected));
  };
  refuse(json::object(), "/data/observation/info_state: expected a value, got none");
  auto longer = openspiel_seen({0});
  longer["info_state"] = {1, 2, 3, 4};
  refuse(longer, "/info_state: expected 3 numbers, as the view says");
  auto nothing = openspiel_seen({0});
  nothing["info_state"][1] = nullptr;
  refuse(nothing, "/info_state: expected numbers, got null");
  auto large = openspiel_seen({0});
  large["info_state"][1] = 1e300;
  refuse(large,
         "/info_state: expected numbers that a 32-bit float has (at most 3.4e+38), got 1e+300");
  refuse(openspiel_seen({0, 2}), "/legal_actions: expected actions of 0 to 1");
  const std::int64_t first = 0, second = 1;
  CHECK(view.forbid(openspiel_seen({0}), action_view(second)) == -1.0);
  CHECK(view.forbid(openspiel_seen({0}), action_view(first)) == std::nullopt);
}

/// A game whose first legal actions are 1 and 2, and whose later ones are 0 and 1.
void play_legal_moves(fake_connection& to) {
  int step = 0;
  for (auto text = to.receive(); !text.empty(); text = to.receive()) {
    const auto asked = json::parse(text);
    if (asked.at("type") == "close") return;
    if (asked.at("type") == "state") {
      to.send_text(reply_text(reply_kind::state, {{"episode_id", "1"}, {"step_count", step}}));
      continue;
    }
    step = asked.at("type") == "reset" ? 0 : step + 1;
    auto seen = openspiel_seen(step == 0 ? std::vector{1, 2} : std::vector{0, 1});
    seen["info_state"][0] = step;  // no reply equals the one before
    const bool ended = step == 3;
    to.send_text(reply_text(reply_kind::observation,
                            {{"observation", seen}, {"reward", step}, {"done", ended}}));
  }
}

TEST_CASE("view discovery: steps at random tell what the schema and the first observation don't",
          "[openenv]") {
  const fake_server game({.session = play_legal_moves, .http = [](const fake_request& asked) {
                            return asked.path == "/schema"
                                       ? std::pair(200, openspiel_schema().dump())
                                       : std::pair(404, std::string("{}"));
                          }});
  const client_options servers{.urls = {game.url()}};
  auto view = view_at(servers);
  CHECK(view.spec.action_space == space(spaces::discrete(3)));
  auto worlds = make_numeric_worlds(view, servers, 2);
  CHECK(worlds->reset(1).obs == recycled_vector<float>{0, 1, 0, 0, 1, 0});
  env_actions actions;
  actions.discrete = {1, 0};  // the second one isn't legal
  const auto after = worlds->step(actions);
  CHECK(after.reward == recycled_vector<double>{1, -1});
  CHECK(after.terminated == recycled_vector<std::uint8_t>{0, 1});
  CHECK(after.failures.empty());
}

}  // namespace
}  // namespace troupe::openenv

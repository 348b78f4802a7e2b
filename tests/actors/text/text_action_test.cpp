#include "actors/text/text_action.hpp"

#include "tests/test.hpp"

namespace troupe {
namespace {

using nlohmann::json;

TEST_CASE("text action: it stands between its tags, once, after the thoughts", "[text]") {
  CHECK(parse_action("I hit. <action> HIT\n</action> Good?").action == "HIT");
  CHECK(parse_action("<think>say <action>STAND</action>?</think><action>HIT</action>").action ==
        "HIT");
  CHECK(parse_action("<action>a <b> c</action>").action == "a <b> c");
}

TEST_CASE("text action: the whole text is what comes after the thoughts", "[text]") {
  CHECK(parse_whole_text(" HIT ").action == "HIT");
  CHECK(parse_whole_text("<think>STAND?</think>\n\nHIT\n").action == "HIT");
  CHECK_FALSE(parse_whole_text("<think>STAND?</think>\n").well_formed());
}

TEST_CASE("text action: whatever else is malformed, and says what was expected", "[text]") {
  for (const auto* text :
       {"", "HIT", "<action>HIT", "HIT</action>", "</action>HIT<action>", "<action></action>",
        "<action> \n</action>", "<action>A</action><action>B</action>", "<ACTION>HIT</ACTION>",
        "<think><action>HIT</action></think>"}) {
    const auto read = parse_action(text);
    CHECK_FALSE(read.well_formed());
    CHECK(read.malformed.starts_with("expected exactly one <action>...</action>"));
    CHECK(read.action.empty());
  }
}

TEST_CASE("tool call: a name and its arguments, as JSON", "[text]") {
  const auto call = parse_tool_call(
      "<tool_call>\n{\"name\": \"echo\", \"arguments\": {\"message\": \"hi\"}}\n</tool_call>");
  CHECK(call.action == "echo");
  CHECK(call.arguments == json{{"message", "hi"}});
  CHECK(parse_tool_call("<tool_call>{\"name\":\"list\"}</tool_call>").arguments == json::object());
}

TEST_CASE("tool call: half of one, several, and other JSON are malformed", "[text]") {
  for (const auto* inside :
       {"{\"name\": \"a\"", "echo(1)", "[]", "{\"name\": 3}", "{\"name\": \"\"}",
        "{\"arguments\": {}}", "{\"name\": \"a\", \"arguments\": \"x\"}"}) {
    const auto read = parse_tool_call(std::string("<tool_call>") + inside + "</tool_call>");
    CAPTURE(inside);
    CHECK_FALSE(read.well_formed());
  }
  const std::string one = "<tool_call>{\"name\":\"a\"}</tool_call>";
  CHECK_FALSE(parse_tool_call(one + one).well_formed());
  CHECK_FALSE(
      parse_tool_call("<tool_call>" + std::string(100'000, '[') + "</tool_call>").well_formed());
}

}  // namespace
}  // namespace troupe

#include "actors/text/text_action.hpp"

#include "actors/reward/text_reward.hpp"
#include "runtime/config/config_error.hpp"
#include "runtime/config/json_text.hpp"

namespace troupe {

namespace {

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

text_action malformed(std::string what) {
  text_action made;
  made.malformed = std::move(what);
  return made;
}

text_action parse_tag(std::string_view written, const std::string& tag) {
  const auto inside = inside_tag(after_thoughts(written), tag);
  const auto expected = "expected exactly one <" + tag + ">...</" + tag + '>';
  if (!inside) return malformed(expected);
  text_action made;
  made.action = trimmed(*inside);
  if (made.action.empty()) return malformed(expected + " with something in it");
  return made;
}

}  // namespace

text_action parse_action(std::string_view written) { return parse_tag(written, "action"); }

text_action parse_whole_text(std::string_view written) {
  text_action made;
  made.action = trimmed(after_thoughts(written));
  if (made.action.empty()) return malformed("it is empty");
  return made;
}

text_action parse_tool_call(std::string_view written) {
  auto made = parse_tag(written, "tool_call");
  if (!made.well_formed()) return made;
  nlohmann::json call;
  try {
    call = parse_json(made.action, "the tool call");
  } catch (const config_error& e) {
    return malformed(e.what());
  }
  const auto name = call.is_object() ? call.find("name") : call.end();
  if (!call.is_object() || name == call.end() || !name->is_string() ||
      name->get_ref<const std::string&>().empty())
    return malformed("expected a JSON object with the \"name\" of a tool");
  auto arguments = call.value("arguments", nlohmann::json::object());
  if (!arguments.is_object()) return malformed("expected \"arguments\" to be a JSON object");
  made.action = *name;
  made.arguments = std::move(arguments);
  return made;
}

}  // namespace troupe

#pragma once
// What a model means to do, read out of what it wrote. What it wrote is never trusted: reading
// takes time linear in its length.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// An action, or what is wrong with it in words that the model is told.
struct text_action {
  std::string action;        ///< Without the white space around it; or a tool's name.
  nlohmann::json arguments;  ///< A tool's, an object; else null.
  std::string malformed;     ///< Empty: it is an action.
  bool well_formed() const { return malformed.empty(); }
};

/// The text between `<action>` and `</action>`. The rule: thoughts, that is all up to the last
/// `</think>`, do not count; in what is left there is the pair exactly once, and something in it.
/// Whatever else is written around it is passed over; anything else is malformed, and is never
/// guessed at.
text_action parse_action(std::string_view written);

/// A call of a tool, as Qwen and Hermes models write it:
///
///     <tool_call>{"name": "echo_message", "arguments": {"message": "hi"}}</tool_call>
///
/// The same rule, and the text is a JSON object with a "name", a text that is not empty, and
/// "arguments", an object; without the latter they are none. One call a turn: several are
/// malformed.
text_action parse_tool_call(std::string_view written);

}  // namespace troupe

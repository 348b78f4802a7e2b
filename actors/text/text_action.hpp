#pragma once
// Parses actions in the text of a model. The text is never trusted: parsing takes time linear in
// its length.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// An action, or the error in it in words for the model.
struct text_action {
  std::string action;        ///< The action without white space around it, or a tool's name.
  nlohmann::json arguments;  ///< The arguments of a tool, an object; otherwise null.
  std::string malformed;     ///< The error; empty means that the action is well-formed.
  bool well_formed() const { return malformed.empty(); }
};

/// Returns the text between `<action>` and `</action>`. Everything up to the last `</think>` is
/// ignored. The rest must contain the pair exactly once and not be empty between the tags; other
/// text around it is ignored. Anything else is malformed and is never guessed at.
text_action parse_action(std::string_view written);

/// Returns the whole text after the last `</think>`, without white space around it. An empty one is
/// malformed.
text_action parse_whole_text(std::string_view written);

/// Returns a tool call in the form of Qwen and Hermes models:
///
///     <tool_call>{"name": "echo_message", "arguments": {"message": "hi"}}</tool_call>
///
/// The rule for tags is the same. The text is a JSON object with a "name", a text that is not
/// empty, and "arguments", an object; without "arguments" there are none. A turn has one call;
/// several are malformed.
text_action parse_tool_call(std::string_view written);

}  // namespace troupe

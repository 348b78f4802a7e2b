#pragma once
// Conversations, as chat templates and text episodes use them.

#include <string>
#include <vector>

namespace troupe {

/// One message of a conversation in the form that chat templates take.
struct chat_message {
  std::string role;  ///< One of "system", "user", "assistant" and "tool".
  std::string content;
  bool operator==(const chat_message&) const = default;
};

using conversation = std::vector<chat_message>;

}  // namespace troupe

#pragma once

#include <string>
#include <vector>

namespace troupe {

/// One message of a conversation, as chat templates take it.
struct chat_message {
  std::string role;  ///< "system", "user", "assistant" or "tool".
  std::string content;
  bool operator==(const chat_message&) const = default;
};

using conversation = std::vector<chat_message>;

}  // namespace troupe

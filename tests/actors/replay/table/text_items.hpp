#pragma once

#include <string>

#include "actors/replay/replay_table.hpp"

namespace troupe {

/// Texts as items of a replay: a character is a byte.
inline replay_codec<std::string> text_codec() {
  return {.encode = [](const std::string& item) { return item; },
          .decode = [](const std::string& bytes) { return bytes; },
          .bytes = [](const std::string& item) { return std::ssize(item); }};
}

inline std::string saved(const replay_table<std::string>& table) {
  state_writer to;
  table.save(to);
  return to.bytes();
}

}  // namespace troupe

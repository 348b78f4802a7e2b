#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe::llm {

/// Turns bytes that arrive in pieces into well-formed UTF-8. A character whose last bytes are still
/// to come is held back, at most three bytes; what can't become one is U+FFFD, one for each maximal
/// part of a character (Unicode 15, section 3.9, "U+FFFD Substitution").
class utf8_stream {
 public:
  /// What can be told now.
  std::string add(std::string_view bytes);
  /// What was held back, as U+FFFD.
  std::string end();

 private:
  std::string held_;
};

/// How many bytes at the begin of a text are well-formed UTF-8: all of them, or up to the first
/// that isn't.
std::size_t utf8_bytes(std::string_view text);

}  // namespace troupe::llm

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe::llm {

/// Converts bytes that arrive in pieces to well-formed UTF-8. The bytes of an incomplete character,
/// at most three, are held back. Bytes that can't become a character are replaced by U+FFFD, once
/// for each maximal part of a character (Unicode 15, section 3.9, "U+FFFD Substitution").
class utf8_stream {
 public:
  /// Adds bytes and returns the text that is complete now.
  std::string add(std::string_view bytes);
  /// Ends the text. Returns U+FFFD for bytes that were held back, or nothing.
  std::string end();

 private:
  std::string held_;
};

/// The number of bytes before the first malformed UTF-8 in a text, or all of them.
std::size_t utf8_bytes(std::string_view text);

}  // namespace troupe::llm

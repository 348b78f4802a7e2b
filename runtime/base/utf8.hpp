#pragma once
// Checks of texts that come from outside.

#include <string>
#include <string_view>

namespace troupe::detail {

/// Returns true if `text` is well-formed UTF-8 (RFC 3629): no overlong form, no surrogate, nothing
/// above U+10FFFF.
bool is_utf8(std::string_view text);

/// Returns a text from outside in a form that is safe in messages. These become escapes of JSON,
/// such as `\u000a`: control characters, and marks that are not seen or change the direction of
/// writing. Bytes that are not UTF-8 become U+FFFD, and "..." replaces everything after the first
/// `bytes_max` bytes.
std::string printable(std::string_view text, std::size_t bytes_max);

/// What printable_text does with the ends of lines.
enum class line_ends {
  escaped,        ///< They become `\u000a`, as in printable().
  short_escapes,  ///< They become `\n`, and tabs `\t`: the text stays one line that can be read.
  kept,           ///< They stay, and so do tabs and the joiners of words and emoji.
};

/// As printable(), for whole messages and answers: one that is cut ends in "... (N bytes)", where N
/// is its length. Inside a string of JSON the result is JSON, too.
std::string printable_text(std::string_view text, std::size_t bytes_max, line_ends ends);

/// Returns the whole text with its lines, for a terminal.
std::string printable_lines(std::string_view text);

}  // namespace troupe::detail

#include "runtime/base/utf8.hpp"

#include <fmt/format.h>

#include <limits>

namespace troupe::detail {

namespace {

/// Returns the number of bytes of the UTF-8 sequence at the beginning of `text`; 0 if there is
/// none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto continues = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;
  if (first < 0xE0) return continues(1) ? 2 : 0;
  if (first < 0xF0) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;   // A lower byte would be an overlong form.
    const unsigned high = first == 0xED ? 0x9F : 0xBF;  // A higher byte would be a surrogate.
    return continues(1, low, high) && continues(2) ? 3 : 0;
  }
  if (first > 0xF4) return 0;
  const unsigned low = first == 0xF0 ? 0x90 : 0x80;
  const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
  return continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
}

/// Returns the character of a well-formed sequence.
char32_t character_of(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first;
  char32_t character = first & (0x7Fu >> sequence.size());
  for (const char c : sequence.substr(1))
    character = character << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
  return character;
}

bool is_between(char32_t character, char32_t first, char32_t last) {
  return character >= first && character <= last;
}

/// Returns true if the character acts on a terminal or hides: the controls of Unicode's blocks C0
/// and C1, and marks that have no width, end a line, or change the direction of writing.
bool acts_or_hides(char32_t c) {
  return c < 0x20 || is_between(c, 0x7F, 0x9F) || c == 0xAD || c == 0x61C || c == 0x180E ||
         is_between(c, 0x200B, 0x200F) || is_between(c, 0x2028, 0x202E) ||
         is_between(c, 0x2060, 0x206F) || c == 0xFEFF || is_between(c, 0xFFF9, 0xFFFB) ||
         is_between(c, 0xE0000, 0xE007F);
}

/// Returns true for what belongs to a text of several lines: their ends, tabs, and the two joiners,
/// without which Persian words and many emoji fall apart.
bool belongs_to_lines(char32_t c) { return c == '\n' || c == '\t' || c == 0x200C || c == 0x200D; }

/// Returns the escape of JSON, which has two halves for what is above U+FFFF.
std::string escape_of(char32_t c) {
  if (c <= 0xFFFF) return fmt::format("\\u{:04x}", static_cast<unsigned>(c));
  const auto beyond = static_cast<unsigned>(c) - 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (beyond >> 10), 0xDC00 + (beyond & 0x3FF));
}

/// Appends the printable form of `text`. Returns false, and has appended its beginning, if that
/// needs more than `bytes_max` bytes.
bool append_printable(std::string& result, std::string_view text, std::size_t bytes_max,
                      line_ends ends) {
  while (!text.empty()) {
    const auto length = sequence_length(text);
    if (result.size() + length > bytes_max) return false;
    const auto c = length == 0 ? U'\0' : character_of(text.substr(0, length));
    if (length == 0) {
      result += "\xef\xbf\xbd";
    } else if (!acts_or_hides(c) || (ends == line_ends::kept && belongs_to_lines(c))) {
      result += text.substr(0, length);
    } else if (ends == line_ends::short_escapes && (c == '\n' || c == '\t')) {
      result += c == '\n' ? "\\n" : "\\t";
    } else {
      result += escape_of(c);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return true;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text, std::size_t bytes_max) {
  std::string result;
  return append_printable(result, text, bytes_max, line_ends::escaped) ? result : result + "...";
}

std::string printable_text(std::string_view text, std::size_t bytes_max, line_ends ends) {
  std::string result;
  if (append_printable(result, text, bytes_max, ends)) return result;
  return result + fmt::format("... ({} bytes)", text.size());
}

std::string printable_lines(std::string_view text) {
  return printable_text(text, std::numeric_limits<std::size_t>::max() / 2, line_ends::kept);
}

}  // namespace troupe::detail

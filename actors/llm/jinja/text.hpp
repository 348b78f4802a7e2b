#pragma once
// Texts of templates: UTF-8 with marks that say where each byte comes from.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::llm::jinja {

/// Marks of a byte. A byte without marks is of the template itself.
inline constexpr char from_data = 1;  ///< it comes from a message, a tool or another given value
inline constexpr char generated = 2;  ///< it is between {% generation %} and {% endgeneration %}

/// A text in UTF-8. Positions and lengths are in bytes unless a name says otherwise.
struct text {
  std::string chars = {};
  std::string marks = {};  ///< empty if no byte has a mark, and else one for each byte
  bool markup = false;     ///< the filter `safe` was applied, so `+` escapes other texts

  std::size_t size() const { return chars.size(); }
  char mark(std::size_t at) const { return marks.empty() ? char{0} : marks[at]; }
};

text unmarked(std::string_view chars);
text marked(std::string_view chars, char mark);

void append(text& to, const text& from);
void append(text& to, std::string_view chars, char mark = 0);
/// The bytes [begin, end), with their marks.
text part(const text& of, std::size_t begin, std::size_t end);

/// The bytes of the character at `at`.
std::size_t char_bytes(std::string_view chars, std::size_t at);
/// The code point of the character at `at`.
char32_t code_at(std::string_view chars, std::size_t at);
std::string utf8_of(char32_t code);
std::size_t count_chars(std::string_view chars);
/// Where each character begins, and at the end the size.
std::vector<std::size_t> char_starts(std::string_view chars);

/// What Python's str.isspace, str.splitlines and str.isprintable go by.
bool is_space(char32_t code);
bool ends_line(char32_t code);
bool is_printable(char32_t code);

/// Python's methods of str. An empty `chars` of the strip functions means white space.
text strip(const text& of, std::string_view chars, bool left, bool right);
text upper(const text& of);
text lower(const text& of);
text title(const text& of);
text capitalize(const text& of);
bool is_lower(std::string_view chars);
bool is_upper(std::string_view chars);
/// str.split and str.rsplit. `most` < 0 means no limit. Without `separator`, white space separates.
std::vector<text> split(const text& of, std::int64_t most);
std::vector<text> split(const text& of, std::string_view separator, std::int64_t most);
std::vector<text> rsplit(const text& of, std::int64_t most);
std::vector<text> rsplit(const text& of, std::string_view separator, std::int64_t most);
std::vector<text> split_lines(const text& of, bool keep_ends);

/// The text with &, <, >, ' and " as entities.
text escaped(const text& of);

}  // namespace troupe::llm::jinja

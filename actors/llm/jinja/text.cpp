#include "actors/llm/jinja/text.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <utility>

#include "actors/llm/jinja/special_casing.hpp"

namespace troupe::llm::jinja {

text unmarked(std::string_view chars) { return {.chars = std::string(chars)}; }

text marked(std::string_view chars, char mark) {
  return {.chars = std::string(chars), .marks = std::string(mark ? chars.size() : 0, mark)};
}

void append(text& to, const text& from) {
  const auto before = to.size();
  to.chars += from.chars;
  if (to.marks.empty() && from.marks.empty()) return;
  to.marks.resize(before);
  to.marks += from.marks;
  to.marks.resize(to.size());
}

void append(text& to, std::string_view chars, char mark) {
  const auto before = to.size();
  to.chars += chars;
  if (to.marks.empty() && !mark) return;
  to.marks.resize(before);
  to.marks.resize(to.size(), mark);
}

text part(const text& of, std::size_t begin, std::size_t end) {
  text made{.chars = of.chars.substr(begin, end - begin), .markup = of.markup};
  if (!of.marks.empty()) made.marks = of.marks.substr(begin, end - begin);
  return made;
}

std::size_t char_bytes(std::string_view chars, std::size_t at) {
  const auto first = static_cast<unsigned char>(chars[at]);
  const std::size_t bytes = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return std::min(bytes, chars.size() - at);
}

char32_t code_at(std::string_view chars, std::size_t at) {
  utf8proc_int32_t code = 0;
  const auto bytes = char_bytes(chars, at);
  utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(chars.data() + at),
                   static_cast<utf8proc_ssize_t>(bytes), &code);
  return code < 0 ? U'\ufffd' : static_cast<char32_t>(code);
}

std::string utf8_of(char32_t code) {
  utf8proc_uint8_t bytes[4];
  const auto count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes);
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count)};
}

std::size_t count_chars(std::string_view chars) {
  return static_cast<std::size_t>(std::count_if(chars.begin(), chars.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::vector<std::size_t> char_starts(std::string_view chars) {
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < chars.size(); at += char_bytes(chars, at)) starts.push_back(at);
  starts.push_back(chars.size());
  return starts;
}

bool is_space(char32_t code) {
  return (code >= 9 && code <= 13) || (code >= 28 && code <= 32) || code == 0x85 || code == 0xa0 ||
         code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 ||
         code == 0x202f || code == 0x205f || code == 0x3000;
}

bool ends_line(char32_t code) {
  return (code >= 10 && code <= 13) || (code >= 28 && code <= 30) || code == 0x85 ||
         code == 0x2028 || code == 0x2029;
}

bool is_printable(char32_t code) {
  if (code == ' ') return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
      return false;
    default:
      return true;
  }
}

namespace {

/// Where the character before `end` begins.
std::size_t last_char(std::string_view chars, std::size_t end) {
  do {
    --end;
  } while (end > 0 && (static_cast<unsigned char>(chars[end]) & 0xc0) == 0x80);
  return end;
}

bool among(std::string_view letter, std::string_view chars) {
  if (chars.empty()) return is_space(code_at(letter, 0));
  for (std::size_t at = 0; at < chars.size(); at += char_bytes(chars, at))
    if (chars.substr(at, char_bytes(chars, at)) == letter) return true;
  return false;
}

enum class letter_case { upper, lower, title };

utf8proc_category_t category(char32_t code) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

bool has_lower_case(char32_t code) {
  return category(code) == UTF8PROC_CATEGORY_LL ||
         // Other_Lowercase: modifier letters, Roman numerals and circled letters.
         code == 0xaa || code == 0xba || (code >= 0x2b0 && code <= 0x2b8) || code == 0x2c0 ||
         code == 0x2c1 || (code >= 0x2e0 && code <= 0x2e4) || code == 0x345 || code == 0x37a ||
         (code >= 0x1d2c && code <= 0x1d6a) || code == 0x1d78 ||
         (code >= 0x1d9b && code <= 0x1dbf) || code == 0x2071 || code == 0x207f ||
         (code >= 0x2090 && code <= 0x209c) || (code >= 0x2170 && code <= 0x217f) ||
         (code >= 0x24d0 && code <= 0x24e9);
}

bool has_upper_case(char32_t code) {
  return category(code) == UTF8PROC_CATEGORY_LU || (code >= 0x2160 && code <= 0x216f) ||
         (code >= 0x24b6 && code <= 0x24cf) || (code >= 0x1f130 && code <= 0x1f149) ||
         (code >= 0x1f150 && code <= 0x1f169) || (code >= 0x1f170 && code <= 0x1f189);
}

bool is_cased(char32_t code) {
  return has_lower_case(code) || has_upper_case(code) || category(code) == UTF8PROC_CATEGORY_LT;
}

bool is_ignored_by_case(char32_t code) {
  switch (category(code)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return code == '\'' || code == '.' || code == ':' || code == 0xb7 || code == 0x387 ||
             code == 0x55f || code == 0x5f4 || code == 0x2018 || code == 0x2019 || code == 0x2024 ||
             code == 0x2027 || code == 0xfe13 || code == 0xfe52 || code == 0xfe55 ||
             code == 0xff07 || code == 0xff0e || code == 0xff1a;
  }
}

/// True if the capital sigma at `at` ends a word, so that its small letter is the final one.
bool is_final_sigma(std::string_view chars, std::size_t at) {
  bool before = false;
  for (auto end = at; end > 0;) {
    end = last_char(chars, end);
    const auto code = code_at(chars, end);
    if (is_ignored_by_case(code)) continue;
    before = is_cased(code);
    break;
  }
  if (!before) return false;
  for (auto next = at + 2; next < chars.size(); next += char_bytes(chars, next)) {
    const auto code = code_at(chars, next);
    if (!is_ignored_by_case(code)) return !is_cased(code);
  }
  return true;
}

std::string in_case(std::string_view chars, std::size_t at, letter_case to) {
  const auto code = code_at(chars, at);
  const auto plain = static_cast<utf8proc_int32_t>(code);
  if (code < 0x80) {
    const bool is_capital = code >= 'A' && code <= 'Z', is_small = code >= 'a' && code <= 'z';
    if (to == letter_case::lower) return {static_cast<char>(is_capital ? code + 32 : code)};
    return {static_cast<char>(is_small ? code - 32 : code)};
  }
  if (to == letter_case::lower) {
    if (code == 0x130) return "i\u0307";
    if (code == 0x3a3) return is_final_sigma(chars, at) ? "\u03c2" : "\u03c3";
    return utf8_of(static_cast<char32_t>(utf8proc_tolower(plain)));
  }
  const auto special = std::ranges::find(special_casing, code, &special_case::code);
  if (special != std::end(special_casing))
    return std::string(to == letter_case::upper ? special->upper : special->title);
  return utf8_of(static_cast<char32_t>(to == letter_case::upper ? utf8proc_toupper(plain)
                                                                : utf8proc_totitle(plain)));
}

/// The text with each character in the case that `which` gives for its position.
template <class Which>
text with_cases(const text& of, Which which) {
  text made{.markup = of.markup};
  for (std::size_t at = 0; at < of.size(); at += char_bytes(of.chars, at))
    append(made, in_case(of.chars, at, which(at)), of.mark(at));
  return made;
}

}  // namespace

text strip(const text& of, std::string_view chars, bool left, bool right) {
  const std::string_view all = of.chars;
  std::size_t begin = 0, end = all.size();
  while (left && begin < end && among(all.substr(begin, char_bytes(all, begin)), chars))
    begin += char_bytes(all, begin);
  while (right && end > begin) {
    const auto last = last_char(all, end);
    if (!among(all.substr(last, end - last), chars)) break;
    end = last;
  }
  return part(of, begin, end);
}

text upper(const text& of) {
  return with_cases(of, [](std::size_t) { return letter_case::upper; });
}
text lower(const text& of) {
  return with_cases(of, [](std::size_t) { return letter_case::lower; });
}
text capitalize(const text& of) {
  return with_cases(of,
                    [](std::size_t at) { return at ? letter_case::lower : letter_case::title; });
}
text title(const text& of) {
  bool in_word = false;
  return with_cases(of, [&](std::size_t at) {
    const auto to = in_word ? letter_case::lower : letter_case::title;
    in_word = is_cased(code_at(of.chars, at));
    return to;
  });
}

namespace {

bool all_cased(std::string_view chars, bool upper) {
  bool any = false;
  for (std::size_t at = 0; at < chars.size(); at += char_bytes(chars, at)) {
    const auto code = code_at(chars, at);
    if (!is_cased(code)) continue;
    if (upper ? !has_upper_case(code) : !has_lower_case(code)) return false;
    any = true;
  }
  return any;
}

}  // namespace

bool is_lower(std::string_view chars) { return all_cased(chars, false); }
bool is_upper(std::string_view chars) { return all_cased(chars, true); }

std::vector<text> split(const text& of, std::int64_t most) {
  std::vector<text> parts;
  const std::string_view all = of.chars;
  for (std::size_t at = 0; at < all.size();) {
    if (is_space(code_at(all, at))) {
      at += char_bytes(all, at);
      continue;
    }
    if (most >= 0 && std::cmp_equal(parts.size(), most)) {
      parts.push_back(strip(part(of, at, all.size()), "", false, true));
      break;
    }
    auto end = at;
    while (end < all.size() && !is_space(code_at(all, end))) end += char_bytes(all, end);
    parts.push_back(part(of, at, end));
    at = end;
  }
  return parts;
}

std::vector<text> split(const text& of, std::string_view separator, std::int64_t most) {
  std::vector<text> parts;
  std::size_t begin = 0;
  while (most < 0 || std::cmp_less(parts.size(), most)) {
    const auto at = of.chars.find(separator, begin);
    if (at == of.chars.npos) break;
    parts.push_back(part(of, begin, at));
    begin = at + separator.size();
  }
  parts.push_back(part(of, begin, of.size()));
  return parts;
}

std::vector<text> rsplit(const text& of, std::int64_t most) {
  if (most < 0) return split(of, most);
  std::vector<text> parts;
  const std::string_view all = of.chars;
  for (auto end = all.size(); end > 0;) {
    const auto last = last_char(all, end);
    if (is_space(code_at(all, last))) {
      end = last;
      continue;
    }
    if (std::cmp_equal(parts.size(), most)) {
      parts.push_back(strip(part(of, 0, end), "", true, false));
      break;
    }
    auto begin = last;
    while (begin > 0 && !is_space(code_at(all, last_char(all, begin))))
      begin = last_char(all, begin);
    parts.push_back(part(of, begin, end));
    end = begin;
  }
  std::ranges::reverse(parts);
  return parts;
}

std::vector<text> rsplit(const text& of, std::string_view separator, std::int64_t most) {
  std::vector<text> parts;
  auto end = of.size();
  while (most < 0 || std::cmp_less(parts.size(), most)) {
    const auto at = std::string_view(of.chars).substr(0, end).rfind(separator);
    if (at == of.chars.npos) break;
    parts.push_back(part(of, at + separator.size(), end));
    end = at;
  }
  parts.push_back(part(of, 0, end));
  std::ranges::reverse(parts);
  return parts;
}

std::vector<text> split_lines(const text& of, bool keep_ends) {
  std::vector<text> lines;
  const std::string_view all = of.chars;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < all.size();) {
    const auto code = code_at(all, at);
    auto next = at + char_bytes(all, at);
    if (ends_line(code)) {
      if (code == '\r' && next < all.size() && all[next] == '\n') ++next;
      lines.push_back(part(of, begin, keep_ends ? next : at));
      begin = next;
    }
    at = next;
  }
  if (begin < all.size()) lines.push_back(part(of, begin, all.size()));
  return lines;
}

text escaped(const text& of) {
  text made{.markup = true};
  for (std::size_t at = 0; at < of.size(); ++at) {
    const char c = of.chars[at];
    const std::string_view entity = c == '&'    ? "&amp;"
                                    : c == '<'  ? "&lt;"
                                    : c == '>'  ? "&gt;"
                                    : c == '\'' ? "&#39;"
                                    : c == '"'  ? "&#34;"
                                                : std::string_view(&c, 1);
    append(made, entity, of.mark(at));
  }
  return made;
}

}  // namespace troupe::llm::jinja

#include "actors/llm/jinja/lexer.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <optional>

#include "actors/llm/jinja/text.hpp"

namespace troupe::llm::jinja {
namespace {

/// With \n as the only line break, and without one at the end.
std::string with_plain_lines(std::string_view source) {
  std::string made;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      made += source[i];
      continue;
    }
    made += '\n';
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (made.ends_with('\n')) made.pop_back();
  return made;
}

bool begins_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool continues_name(char c) { return begins_name(c) || is_digit(c); }

constexpr std::array<std::string_view, 8> long_signs{"//", "**", "==", "!=", ">=", "<=", "", ""};
constexpr std::string_view short_signs = "+-/*%~[](){}><=.:|,;";

class lexer {
 public:
  explicit lexer(std::string_view source) : source_(with_plain_lines(source)) {}

  std::vector<token> run() {
    while (at_ < source_.size()) read_data();
    add(token_kind::end, "");
    return std::move(tokens_);
  }

 private:
  void add(token_kind kind, std::string chars) {
    tokens_.push_back({kind, std::move(chars), line_});
  }

  /// Moves on and counts lines. `line_start_` is whether the last text ended with a line break.
  void skip_to(std::size_t to) {
    line_ += static_cast<int>(std::count(source_.begin() + std::ptrdiff_t(at_),
                                         source_.begin() + std::ptrdiff_t(to), '\n'));
    if (to > at_) line_start_ = source_[to - 1] == '\n';
    at_ = to;
  }

  bool comes(std::string_view what, std::size_t at) const {
    return std::string_view(source_).substr(std::min(at, source_.size())).starts_with(what);
  }
  std::size_t after_space(std::size_t at) const {
    while (at < source_.size() && is_space(code_at(source_, at))) at += char_bytes(source_, at);
    return at;
  }

  /// Text up to the next tag, and the tag.
  void read_data() {
    auto tag = source_.find('{', at_);
    while (tag != source_.npos && !comes("{%", tag) && !comes("{{", tag) && !comes("{#", tag))
      tag = source_.find('{', tag + 1);
    if (tag == source_.npos) {
      add(token_kind::data, source_.substr(at_));
      skip_to(source_.size());
      return;
    }
    const char kind = source_[tag + 1];
    const char sign = tag + 2 < source_.size() ? source_[tag + 2] : ' ';
    const bool has_sign = sign == '-' || sign == '+';
    add_data(tag, sign, kind == '{');
    skip_to(tag + 2 + has_sign);
    if (kind == '#') return skip_comment();
    if (kind == '{') return read_tag(token_kind::begin_output, token_kind::end_output);
    if (const auto end = end_of_word("raw", at_)) return read_raw(*end);
    read_tag(token_kind::begin_block, token_kind::end_block);
  }

  void add_data(std::size_t end, char sign, bool is_output) {
    auto data = source_.substr(at_, end - at_);
    if (sign == '-') {
      data = strip(unmarked(data), "", false, true).chars;
    } else if (sign != '+' && !is_output) {
      const auto newline = data.rfind('\n');
      const auto begin = newline == data.npos ? 0 : newline + 1;
      if ((begin > 0 || line_start_) &&
          strip(unmarked(data.substr(begin)), "", true, true).size() == 0)
        data.resize(begin);
    }
    if (!data.empty()) add(token_kind::data, std::move(data));
  }

  /// Where a block tag with this one word ends, if it comes at `at`: after the word.
  std::optional<std::size_t> end_of_word(std::string_view word, std::size_t at) const {
    at = after_space(at);
    if (!comes(word, at)) return std::nullopt;
    at = after_space(at + word.size());
    if (comes("%}", at) || comes("-%}", at) || comes("+%}", at)) return at;
    return std::nullopt;
  }

  /// Where a tag ends that is closed by `close` at `at`, with the white space that goes with it.
  /// None if it isn't closed there.
  std::optional<std::size_t> end_of_tag(std::string_view close, std::size_t at, bool trims) const {
    if (comes("-", at) && comes(close, at + 1)) return after_space(at + 1 + close.size());
    if (trims && comes("+", at) && comes(close, at + 1)) return at + 1 + close.size();
    if (!comes(close, at)) return std::nullopt;
    at += close.size();
    return trims && comes("\n", at) ? at + 1 : at;
  }

  void skip_comment() {
    for (auto at = at_; at < source_.size(); ++at) {
      if (const auto end = end_of_tag("#}", at, true)) return skip_to(*end);
    }
    throw syntax_error(line_, "expected #} after a comment, got the end");
  }

  /// `word` is where the tag's word ends.
  void read_raw(std::size_t word) {
    if (comes("+", word)) throw syntax_error(line_, "expected {% raw %}, got +%}");
    skip_to(*end_of_tag("%}", word, false));
    for (auto at = source_.find("{%", at_); at != source_.npos; at = source_.find("{%", at + 1)) {
      const char sign = at + 2 < source_.size() ? source_[at + 2] : ' ';
      const auto end = end_of_word("endraw", at + 2 + (sign == '-' || sign == '+'));
      if (!end) continue;
      add_data(at, sign, false);
      return skip_to(*end_of_tag("%}", *end, true));
    }
    throw syntax_error(line_, "expected {% endraw %}, got the end");
  }

  void read_tag(token_kind begin, token_kind end) {
    add(begin, "");
    const bool is_block = end == token_kind::end_block;
    std::string open;  // the brackets that close the open ones
    for (;;) {
      if (at_ >= source_.size())
        throw syntax_error(line_, "expected the end of a tag, got the end");
      if (open.empty()) {
        if (const auto after = end_of_tag(is_block ? "%}" : "}}", at_, is_block)) {
          add(end, "");
          return skip_to(*after);
        }
      }
      read_token(open);
    }
  }

  void read_token(std::string& open) {
    const char c = source_[at_];
    if (is_space(code_at(source_, at_))) return skip_to(after_space(at_));
    if (is_digit(c)) return read_number();
    if (begins_name(c)) {
      auto end = at_;
      while (end < source_.size() && continues_name(source_[end])) ++end;
      add(token_kind::name, source_.substr(at_, end - at_));
      return skip_to(end);
    }
    if (c == '\'' || c == '"') return read_string(c);
    std::size_t length = 1;
    for (const auto sign : long_signs)
      if (!sign.empty() && comes(sign, at_)) length = 2;
    if (length == 1 && short_signs.find(c) == short_signs.npos)
      throw syntax_error(line_, "expected an expression, got the character " +
                                    std::string(source_, at_, char_bytes(source_, at_)));
    if (length == 1) balance(c, open);
    add(token_kind::sign, source_.substr(at_, length));
    skip_to(at_ + length);
  }

  void balance(char c, std::string& open) {
    if (c == '(') open += ')';
    if (c == '[') open += ']';
    if (c == '{') open += '}';
    if (c != ')' && c != ']' && c != '}') return;
    if (open.empty() || open.back() != c)
      throw syntax_error(line_, std::string("expected no ") + c + " here");
    open.pop_back();
  }

  /// The end of digits with single underscores between them.
  std::size_t end_of_digits(std::size_t at) const {
    while (at < source_.size() &&
           (is_digit(source_[at]) ||
            (source_[at] == '_' && at + 1 < source_.size() && is_digit(source_[at + 1]))))
      ++at;
    return at;
  }

  void read_number() {
    auto end = end_of_digits(at_);
    bool is_real = false;
    if (source_[at_] == '0' && end < source_.size() &&
        std::isalpha(static_cast<unsigned char>(source_[end])))
      throw syntax_error(line_, "expected a decimal number, got another one");
    if (comes(".", end) && end + 1 < source_.size() && is_digit(source_[end + 1])) {
      is_real = true;
      end = end_of_digits(end + 1);
    }
    if (comes("e", end) || comes("E", end)) {
      auto digits = end + 1;
      if (comes("+", digits) || comes("-", digits)) ++digits;
      if (digits < source_.size() && is_digit(source_[digits])) {
        is_real = true;
        end = end_of_digits(digits);
      }
    }
    auto chars = source_.substr(at_, end - at_);
    std::erase(chars, '_');
    if (!is_real && chars.size() > 1 && chars[0] == '0')
      throw syntax_error(line_, "expected a decimal number, got " + chars);
    add(is_real ? token_kind::real : token_kind::integer, std::move(chars));
    skip_to(end);
  }

  void read_string(char quote) {
    auto end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size())
      throw syntax_error(line_, "expected the end of a string, got the end");
    add(token_kind::string, unescaped(source_.substr(at_ + 1, end - at_ - 1)));
    skip_to(end + 1);
  }

  std::string unescaped(const std::string& in) const {
    std::string out;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (in[i] != '\\') {
        out += in[i];
        continue;
      }
      const char c = in[++i];
      constexpr std::string_view from = "\\'\"abfnrtv", to = "\\'\"\a\b\f\n\r\t\v";
      if (const auto at = from.find(c); at != from.npos) {
        out += to[at];
      } else if (c == 'x' || c == 'u' || c == 'U') {
        const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : 8;
        out += utf8_of(number_of(in, i + 1, digits, 16));
        i += digits;
      } else if (c >= '0' && c <= '7') {
        std::size_t digits = 1;
        while (digits < 3 && i + digits < in.size() && in[i + digits] >= '0' &&
               in[i + digits] <= '7')
          ++digits;
        out += utf8_of(number_of(in, i, digits, 8));
        i += digits - 1;
      } else if (c == 'N') {
        throw syntax_error(line_, "expected no character by its name (\\N) in a string");
      } else if (c != '\n') {
        out += '\\';
        out += c;
      }
    }
    return out;
  }

  char32_t number_of(const std::string& in, std::size_t at, std::size_t digits, int base) const {
    std::uint32_t number = 0;
    for (auto i = at; i < at + digits; ++i) {
      const char c =
          i < in.size() ? static_cast<char>(std::tolower(static_cast<unsigned char>(in[i]))) : ' ';
      const int digit = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
      if (digit >= base) throw syntax_error(line_, "expected digits after a backslash in a string");
      number = number * static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(digit);
    }
    if (number > 0x10ffff || (number >= 0xd800 && number < 0xe000))
      throw syntax_error(line_, "expected a character's number after a backslash in a string");
    return number;
  }

  std::string source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_start_ = true;
  std::vector<token> tokens_;
};

}  // namespace

std::vector<token> tokens_of(std::string_view source) { return lexer(source).run(); }

}  // namespace troupe::llm::jinja

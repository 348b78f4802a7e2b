#include "actors/reward/text_reward.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace troupe {
namespace {

constexpr std::string_view white_space = " \t\r\n\f\v";
constexpr int pattern_bytes_max = 1 << 20;  // The bound on the compiled form.

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(white_space);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(white_space) - first + 1);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// They stand for a separator of thousands that is no comma, and for the place between the whole
// number and the fraction of a mixed number.
constexpr char separator = '\x1f', mixed = '\x1e';

/// Spellings of signs and of separators, and what they are read as.
constexpr std::pair<std::string_view, char> spellings[] = {
    {"\u2212", '-'},       {"\u2013", '-'},       {"\uff0d", '-'},
    {"\u00a0", separator}, {"\u2007", separator}, {"\u2009", separator},
    {"\u202f", separator}, {"\\,", separator},    {"{,}", separator},
};

/// The text with one spelling of signs and separators, and with a/b for \frac{a}{b}.
std::string plainly_spelled(std::string_view text) {
  std::string made;
  made.reserve(text.size());
  while (!text.empty()) {
    const auto* const found = std::ranges::find_if(
        spellings, [&](const auto& each) { return text.starts_with(each.first); });
    const bool is_other = found == std::end(spellings);
    made += is_other ? text.front() : found->second;
    text.remove_prefix(is_other ? 1 : found->first.size());
  }
  if (made.find("frac") == made.npos) return made;
  const std::string parts =
      R"(\\[dt]?frac\s*\{\s*(-?[0-9]+(?:\.[0-9]+)?)\s*\}\s*\{\s*([0-9]+(?:\.[0-9]+)?)\s*\})";
  RE2::GlobalReplace(&made, RE2(R"(([0-9])\s*)" + parts),
                     std::string(R"(\1)") + mixed + R"(\2/\3)");
  RE2::GlobalReplace(&made, RE2(parts), R"(\1/\2)");
  return made;
}

bool is_thousands_separator(std::string_view text, std::size_t at) {
  const auto digit_at = [&](std::size_t i) { return i < text.size() && is_digit(text[i]); };
  return (text[at] == ',' || text[at] == separator) && digit_at(at + 1) && digit_at(at + 2) &&
         digit_at(at + 3) && !digit_at(at + 4);
}

/// Text that may be one number, without separators of thousands, and its end.
struct number_text {
  std::string digits;
  std::size_t end;

  std::optional<double> value() const {
    double read = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), read);
    if (error != std::errc() || !std::isfinite(read)) return std::nullopt;
    return read;
  }
};

number_text read_number(std::string_view text, std::size_t at) {
  number_text number{{}, at};
  const auto take_digits = [&] {
    while (number.end < text.size() && is_digit(text[number.end])) {
      number.digits += text[number.end++];
    }
  };
  take_digits();
  // A separator groups thousands only after one to three digits.
  if (number.digits.size() <= 3) {
    while (number.end < text.size() && is_thousands_separator(text, number.end)) {
      ++number.end;
      take_digits();
    }
  }
  if (number.end + 1 < text.size() && text[number.end] == '.' && is_digit(text[number.end + 1])) {
    number.digits += text[number.end++];
    take_digits();
  }
  auto exponent = number.end;
  if (exponent < text.size() && (text[exponent] == 'e' || text[exponent] == 'E')) {
    ++exponent;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
    if (exponent < text.size() && is_digit(text[exponent])) {
      number.digits.append(text, number.end, exponent - number.end);
      number.end = exponent;
      take_digits();
    }
  }
  return number;
}

bool is_negative(std::string_view text, std::size_t at) {
  return at > 0 && text[at - 1] == '-' && (at == 1 || !is_word(text[at - 2]));
}

/// The number after a slash, if it makes a fraction of the one before it, which begins at `begin`
/// and ends at the slash. Dates such as 1/2/2024 have none.
std::optional<number_text> divisor(std::string_view text, std::size_t begin, std::size_t slash) {
  const bool is_there = slash + 1 < text.size() && text[slash] == '/' && is_digit(text[slash + 1]);
  if (!is_there || (begin > 0 && text[begin - 1] == '/')) return std::nullopt;
  auto below = read_number(text, slash + 1);
  const bool goes_on = below.end < text.size() && text[below.end] == '/';
  if (goes_on || below.value().value_or(0) == 0) return std::nullopt;
  return below;
}

/// A number as it is written.
struct written_number {
  double value;
  bool is_percentage;
};

std::optional<written_number> last_written(std::string_view original) {
  const auto made = plainly_spelled(original);
  const std::string_view text = made;
  std::optional<written_number> last;
  double whole = 0;  // that of a mixed number, whose fraction follows
  bool whole_is_negative = false;
  for (std::size_t at = 0; at < text.size();) {
    const bool fraction = text[at] == '.' && at + 1 < text.size() && is_digit(text[at + 1]);
    if (!is_digit(text[at]) && !fraction) {
      ++at;
      continue;
    }
    auto number = read_number(text, at);
    auto value = number.value();
    if (const auto below = divisor(text, at, number.end); below && value) {
      value = *value / *below->value();
      number.end = below->end;
    }
    bool negative = is_negative(text, at);
    if (at > 0 && text[at - 1] == mixed && value) {
      *value += whole;
      negative = whole_is_negative;
    }
    whole = value.value_or(0);
    whole_is_negative = negative;
    at = number.end;
    const auto rest = text.substr(at);
    if (value)
      last = {.value = negative ? -*value : *value,
              .is_percentage = rest.starts_with('%') || rest.starts_with("\\%")};
  }
  return last;
}

/// What makes a word longer: a letter, a mark, a digit or an underscore.
constexpr const char* word_class = R"(\p{L}\p{M}\p{N}_)";
/// Letters of scripts that are written without spaces between words.
constexpr const char* spaceless =
    R"([\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}])";

/// Expressions for what may stand before and after words. A number also borders on no sign and no
/// decimal point that would make it another one.
std::string border_before(bool is_number) {
  if (!is_number) return std::string("(?:^|[^") + word_class + "]|" + spaceless + ")";
  return std::string("(?:^|[^") + word_class + R"(.,\-−]|)" + spaceless +
         R"(|(?:^|[^\p{N}])[.,]|[\p{L}\p{N}][\-−]))";
}
std::string border_after(bool is_number) {
  if (!is_number) return std::string("(?:$|[^") + word_class + "]|" + spaceless + ")";
  return std::string("(?:$|[^") + word_class + ".,]|" + spaceless + R"(|[.,](?:$|[^\p{N}])))";
}

RE2::Options quiet(bool folds) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(!folds);
  options.set_dot_nl(true);
  return options;
}

/// True if the character at an end of the words is one that makes a word longer, and whose script
/// has spaces. `end` is "^" or "$".
bool is_bordered(std::string_view words, const char* end) {
  const bool begins = *end == '^';
  const auto edge = [&](const std::string& one) { return begins ? "^" + one : one + "$"; };
  const re2::StringPiece text(words.data(), words.size());
  return RE2::PartialMatch(text, RE2(edge(std::string("[") + word_class + "]"), quiet(false))) &&
         !RE2::PartialMatch(text, RE2(edge(spaceless), quiet(false)));
}

}  // namespace

double exact_match(std::string_view answer, std::string_view expected) {
  return trim(answer) == trim(expected) ? 1 : 0;
}

std::optional<double> last_number(std::string_view text) {
  const auto found = last_written(text);
  return found ? std::optional(found->value) : std::nullopt;
}

double numeric_match(std::string_view answer, std::string_view expected, double tolerance) {
  const auto wanted = last_written(expected);
  if (!wanted)
    throw std::invalid_argument("numeric match: expected a text with a number in it, got \"" +
                                std::string(expected.substr(0, 80)) + '"');
  const auto given = last_written(answer);
  if (!given) return 0;
  const auto is_near = [&](double one, double other) {
    return std::abs(one - other) <= tolerance * std::max(1.0, std::abs(other));
  };
  if (is_near(given->value, wanted->value)) return 1;
  if (given->is_percentage == wanted->is_percentage) return 0;
  const auto plain = [](const written_number& of) {
    return of.is_percentage ? of.value / 100 : of.value;
  };
  return is_near(plain(*given), plain(*wanted)) ? 1 : 0;
}

std::string_view marked_answer(std::string_view text) {
  constexpr std::string_view box = "\\boxed{", marks = "####";
  if (const auto found = text.rfind(box); found != text.npos) {
    const auto begin = found + box.size();
    int open = 1;
    for (auto at = begin; at < text.size(); ++at) {
      if (text[at] == '\\') {
        ++at;  // an escaped brace is a part of the answer
      } else if (text[at] == '{') {
        ++open;
      } else if (text[at] == '}' && --open == 0) {
        return text.substr(begin, at - begin);
      }
    }
  }
  const auto found = text.rfind(marks);
  if (found == text.npos) return text;
  const auto rest = text.substr(found + marks.size());
  return rest.substr(0, rest.find('\n'));
}

bool contains_words(std::string_view text, std::string_view words) {
  words = trim(words);
  if (words.empty()) return true;
  const auto quoted = RE2::QuoteMeta(re2::StringPiece(words.data(), words.size()));
  std::string pattern;
  if (is_bordered(words, "^")) pattern += border_before(is_digit(words.front()));
  pattern += quoted;
  if (is_bordered(words, "$")) pattern += border_after(is_digit(words.back()));
  const RE2 wanted(pattern, quiet(true));
  // Words that are no UTF-8 have no letters.
  if (!wanted.ok()) return text.find(words) != text.npos;
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), wanted);
}

std::optional<std::string_view> inside_tag(std::string_view text, std::string_view tag) {
  const auto opening = '<' + std::string(tag) + '>';
  const auto closing = "</" + std::string(tag) + '>';
  const auto first = text.find(opening);
  const auto last = text.find(closing);
  if (first == text.npos || last == text.npos || last < first + opening.size() ||
      text.rfind(opening) != first || text.rfind(closing) != last)
    return std::nullopt;
  const auto begin = first + opening.size();
  return text.substr(begin, last - begin);
}

std::string_view after_thoughts(std::string_view text) {
  constexpr std::string_view end = "</think>";
  const auto at = text.rfind(end);
  if (at == text.npos) return text;
  text.remove_prefix(at + end.size());
  const auto begin = text.find_first_not_of(" \t\r\n");
  return begin == text.npos ? std::string_view() : text.substr(begin);
}

double tag_format(std::string_view text, const std::vector<std::string>& tags) {
  auto rest = trim(text);
  for (const auto& tag : tags) {
    const auto opening = '<' + tag + '>';
    const auto part = inside_tag(text, tag);
    if (!part || !rest.starts_with(opening)) return 0;
    // Each tag occurs once, so the tag that opens here belongs to this part.
    rest = trim(rest.substr(opening.size() + part->size() + opening.size() + 1));
  }
  return rest.empty() ? 1 : 0;
}

struct pattern_match::compiled {
  compiled(const std::string& pattern, const RE2::Options& options) : regex(pattern, options) {}
  RE2 regex;
};

pattern_match::pattern_match(const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_dot_nl(true);
  options.set_max_mem(pattern_bytes_max);
  auto made = std::make_shared<const compiled>(pattern, options);
  if (!made->regex.ok())
    throw std::invalid_argument("pattern \"" + pattern.substr(0, 80) +
                                "\": expected a regular expression, got: " + made->regex.error());
  compiled_ = std::move(made);
}

double pattern_match::operator()(std::string_view text) const {
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), compiled_->regex) ? 1 : 0;
}

}  // namespace troupe

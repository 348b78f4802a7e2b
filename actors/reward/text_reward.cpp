#include "actors/reward/text_reward.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

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

/// Returns the text from `at` on that may be one number, without commas between thousands, and its
/// end.
struct number_text {
  std::string digits;
  std::size_t end;
};

bool is_thousands_comma(std::string_view text, std::size_t at) {
  const auto digit_at = [&](std::size_t i) { return i < text.size() && is_digit(text[i]); };
  return text[at] == ',' && digit_at(at + 1) && digit_at(at + 2) && digit_at(at + 3) &&
         !digit_at(at + 4);
}

number_text read_number(std::string_view text, std::size_t at) {
  number_text number{{}, at};
  const auto take_digits = [&] {
    while (number.end < text.size() && is_digit(text[number.end])) {
      number.digits += text[number.end++];
    }
  };
  take_digits();
  // A comma groups thousands only after one to three digits.
  if (number.digits.size() <= 3) {
    while (number.end < text.size() && is_thousands_comma(text, number.end)) {
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

}  // namespace

double exact_match(std::string_view answer, std::string_view expected) {
  return trim(answer) == trim(expected) ? 1 : 0;
}

std::optional<double> last_number(std::string_view text) {
  std::optional<double> last;
  for (std::size_t at = 0; at < text.size();) {
    const bool fraction = text[at] == '.' && at + 1 < text.size() && is_digit(text[at + 1]);
    if (!is_digit(text[at]) && !fraction) {
      ++at;
      continue;
    }
    const bool negative = is_negative(text, at);
    const auto number = read_number(text, at);
    double value = 0;
    const auto [end, error] =
        std::from_chars(number.digits.data(), number.digits.data() + number.digits.size(), value);
    if (error == std::errc() && std::isfinite(value)) last = negative ? -value : value;
    at = number.end;
  }
  return last;
}

double numeric_match(std::string_view answer, std::string_view expected, double tolerance) {
  const auto wanted = last_number(expected);
  if (!wanted)
    throw std::invalid_argument("numeric match: expected a text with a number in it, got \"" +
                                std::string(expected.substr(0, 80)) + '"');
  const auto given = last_number(answer);
  return given && std::abs(*given - *wanted) <= tolerance * std::max(1.0, std::abs(*wanted)) ? 1
                                                                                             : 0;
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

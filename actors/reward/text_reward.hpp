#pragma once
// Verifiable rewards of a text, as plain functions: 1 for right, 0 for wrong. What a model wrote is
// never trusted: each takes time linear in the text's length, whatever stands in it.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Whether the answer is the expected text, white space around either left aside.
double exact_match(std::string_view answer, std::string_view expected);

/// Whether the last number in `answer` is the last one in `expected`, up to `tolerance` times the
/// larger of 1 and the expected number. Throws std::invalid_argument if `expected` has none.
double numeric_match(std::string_view answer, std::string_view expected, double tolerance = 1e-6);

/// The last finite number in a text, such as 42, -0.5, 1e-3 or 1,234,567.8; none if there is none.
/// A sign counts only where no digit or letter precedes it: in `7-3` the last number is 3.
std::optional<double> last_number(std::string_view text);

/// What stands between `<tag>` and `</tag>`, if each of the two is in the text exactly once and in
/// that order.
std::optional<std::string_view> inside_tag(std::string_view text, std::string_view tag);

/// Whether the text is just these parts, each `<tag>...</tag>` once, in their order, and white
/// space between them: {"think", "answer"}.
double tag_format(std::string_view text, const std::vector<std::string>& tags);

/// Whether a regular expression matches the whole text. Google's RE2 (syntax:
/// https://github.com/google/re2/wiki/Syntax), which has no back references and needs no stack.
class pattern_match {
 public:
  /// Throws std::invalid_argument naming the pattern and what is wrong with it. `.` matches line
  /// ends, too.
  explicit pattern_match(const std::string& pattern);
  double operator()(std::string_view text) const;

 private:
  struct compiled;
  std::shared_ptr<const compiled> compiled_;  // immutable: copies may be used by any thread
};

}  // namespace troupe

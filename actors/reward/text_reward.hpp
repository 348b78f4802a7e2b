#pragma once
// Verifiable rewards of a text, as plain functions: 1 for right, 0 for wrong. The text of a model
// is never trusted: every function takes time linear in its length, whatever its content.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Returns 1 if the answer is the expected text, ignoring white space around both.
double exact_match(std::string_view answer, std::string_view expected);

/// Returns 1 if the last number in `answer` is the last one in `expected`, up to `tolerance` times
/// the larger of 1 and the magnitude of the expected number. Where one of both is a percentage and
/// the other is none, 50% is equal to 50 and to 0.5. Throws std::invalid_argument if `expected` has
/// no number.
double numeric_match(std::string_view answer, std::string_view expected, double tolerance = 1e-6);

/// Returns the last finite number in a text, such as 42, -0.5, 1e-3, 1,234,567.8, 3/4 or
/// \frac{3}{4}; nullopt if there is none. A sign counts only if no digit or letter precedes it: in
/// `7-3` the last number is 3. The sign may be U+2212 or an en dash. Thousands may be separated by
/// commas, narrow or unbreakable spaces, `\,` or `{,}`; a point is always that of a decimal.
std::optional<double> last_number(std::string_view text);

/// Returns what a text marks as its answer: what is in the last `\boxed{}`, whose braces may be
/// nested, or else the rest of the line after the last `####`. A text without both is returned
/// whole.
std::string_view marked_answer(std::string_view text);

/// Returns true if a text has another one in it as whole words, in any case. A letter or digit of
/// any script beside it makes it a part of a longer word, and a sign or a decimal point that of
/// another number: 5 is not in 15, -5 or 5.2. Scripts that are written without spaces have no such
/// borders. Both texts are folded as RE2 does: by Unicode's simple case folding.
bool contains_words(std::string_view text, std::string_view words);

/// Returns the text between `<tag>` and `</tag>`, if each of the two is in the text exactly once
/// and in this order.
std::optional<std::string_view> inside_tag(std::string_view text, std::string_view tag);

/// Returns the text after its thoughts: what follows the last `</think>`, without the white space
/// between the two. A text without the mark is returned as it is.
std::string_view after_thoughts(std::string_view text);

/// Returns 1 if the text consists of the parts `<tag>...</tag>` of these tags, such as {"think",
/// "answer"}: each once, in order, with only white space between them.
double tag_format(std::string_view text, const std::vector<std::string>& tags);

/// Rewards a text that a regular expression matches completely. The expressions are those of
/// Google's RE2 (syntax: https://github.com/google/re2/wiki/Syntax), which has no back references
/// and needs no stack.
class pattern_match {
 public:
  /// Throws std::invalid_argument naming the pattern and its error. `.` matches line breaks, too.
  explicit pattern_match(const std::string& pattern);
  double operator()(std::string_view text) const;

 private:
  struct compiled;
  std::shared_ptr<const compiled> compiled_;  // It is immutable, so any thread may use copies.
};

}  // namespace troupe

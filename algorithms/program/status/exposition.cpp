#include "algorithms/program/status/exposition.hpp"

#include <charconv>
#include <limits>

#include "runtime/base/utf8.hpp"

namespace troupe::command {

namespace {

constexpr std::size_t label_bytes_max = 200;
constexpr std::size_t expected_bytes_max = 120, got_bytes_max = 40;

bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
}
bool in_name(char c) { return begins_name(c) || (c >= '0' && c <= '9'); }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// A parser of one line, which reads from left to right.
class line_reader {
 public:
  line_reader(std::string_view text, std::size_t number) : rest_(text), number_(number) {}

  metric_sample read() {
    metric_sample sample;
    sample.name = read_name("a metric's name");
    skip_blanks();
    if (take('{')) read_labels(sample);
    skip_blanks();
    sample.value = read_number(read_word());
    skip_blanks();
    if (!rest_.empty()) read_time(read_word());
    skip_blanks();
    if (!rest_.empty()) fail("the end of the line");
    return sample;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    const auto shown = detail::printable(rest_, got_bytes_max);
    throw exposition_error("line " + std::to_string(number_) + ": expected " +
                           detail::printable(expected, expected_bytes_max) + ", got " +
                           (shown.empty() ? "its end" : '"' + shown + '"'));
  }

  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  }

  std::string read_name(const char* what) {
    if (rest_.empty() || !begins_name(rest_.front())) fail(what);
    std::size_t size = 1;
    while (size < rest_.size() && in_name(rest_[size])) ++size;
    std::string name(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return name;
  }

  void read_labels(metric_sample& sample) {
    for (;;) {
      skip_blanks();
      if (take('}')) return;
      auto key = read_name("a label's name or }");
      skip_blanks();
      if (!take('=')) fail("= after the label " + key);
      skip_blanks();
      if (!take('"')) fail("a quoted value of the label " + key);
      const auto value = detail::printable(read_text(), label_bytes_max);
      if (!sample.labels.emplace(key, value).second) fail("the label " + key + " once");
      skip_blanks();
      if (take(',')) continue;
      if (!take('}')) fail(", or } after the label " + key);
      return;
    }
  }

  /// Reads a quoted text up to its closing quote.
  std::string read_text() {
    std::string text;
    while (!take('"')) {
      if (rest_.empty()) fail("a closing quote");
      if (!take('\\')) {
        text += rest_.front();
        rest_.remove_prefix(1);
      } else if (take('n')) {
        text += '\n';
      } else if (take('"')) {
        text += '"';
      } else if (take('\\')) {
        text += '\\';
      } else {
        fail("n, \" or \\ after a backslash");
      }
    }
    return text;
  }

  std::string_view read_word() {
    std::size_t size = 0;
    while (size < rest_.size() && !is_blank(rest_[size])) ++size;
    const auto word = rest_.substr(0, size);
    if (word.empty()) fail("a value");
    rest_.remove_prefix(size);
    return word;
  }

  [[noreturn]] void refuse(std::string_view word, const char* expected) {
    rest_ = word;
    fail(expected);
  }

  double read_number(std::string_view word) {
    auto digits = word;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    if (digits == "Inf") return std::numeric_limits<double>::infinity();
    if (word == "-Inf") return -std::numeric_limits<double>::infinity();
    if (word == "NaN") return std::numeric_limits<double>::quiet_NaN();
    double value = 0;
    const auto* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value);
    const bool number = digits.find_first_not_of("0123456789.eE+-") == digits.npos;
    if (read.ec != std::errc() || read.ptr != end || !number || digits.starts_with('+')) {
      refuse(word, "a value");
    }
    return value;
  }

  void read_time(std::string_view word) {
    long long milliseconds = 0;
    const auto* end = word.data() + word.size();
    const auto read = std::from_chars(word.data(), end, milliseconds);
    if (read.ec != std::errc() || read.ptr != end) refuse(word, "a time in ms");
  }

  std::string_view rest_;
  const std::size_t number_;
};

}  // namespace

const std::string& metric_sample::label(const std::string& key) const {
  static const std::string none;
  const auto found = labels.find(key);
  return found == labels.end() ? none : found->second;
}

std::vector<metric_sample> parse_exposition(std::string_view text) {
  std::vector<metric_sample> samples;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    if (end == text.npos) {
      throw exposition_error("line " + std::to_string(number) +
                             ": expected a line feed at its end");
    }
    const auto line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const auto first = line.find_first_not_of(" \t");
    if (first == line.npos || line[first] == '#') continue;
    samples.push_back(line_reader(line.substr(first), number).read());
  }
  return samples;
}

}  // namespace troupe::command

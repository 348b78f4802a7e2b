#include "runtime/base/utf8.hpp"

#include <nlohmann/json.hpp>

#include "tests/test.hpp"

namespace troupe::detail {
namespace {

/// The first and last character of each length, and beside the surrogates, by RFC 3629, section 4.
const std::string well_formed[] = {"",
                                   std::string(1, '\0'),
                                   "\x7f",
                                   "\xc2\x80",
                                   "\xdf\xbf",
                                   "\xe0\xa0\x80",
                                   "\xed\x9f\xbf",
                                   "\xee\x80\x80",
                                   "\xef\xbf\xbf",
                                   "\xf0\x90\x80\x80",
                                   "\xf1\x80\x80\x80",
                                   "\xf3\xbf\xbf\xbf",
                                   "\xf4\x8f\xbf\xbf",
                                   "a\xc2\x80z\xf0\x9f\x8e\xad"};
const std::string malformed[] = {"\x80",
                                 "\xbf",
                                 "\xc1\xbf",
                                 "\xc2",
                                 "\xc2\x7f",
                                 "\xc2\xc0",
                                 "\xe0\x9f\xbf",
                                 "\xe1\x80",
                                 "\xe1\x80\x7f",
                                 "\xed\xa0\x80",
                                 "\xed\xbf\xbf",
                                 "\xf0\x8f\xbf\xbf",
                                 "\xf1\x7f\x80\x80",
                                 "\xf1\x80\x7f\x80",
                                 "\xf1\x80\x80\x7f",
                                 "\xf1\x80\x80",
                                 "\xf4\x90\x80\x80",
                                 "\xf5\x80\x80\x80",
                                 "\xff",
                                 "a\xc2\x80\xc2"};

TEST_CASE("utf8: what is well formed by RFC 3629, to the bounds of each length") {
  for (const auto& text : well_formed) {
    CAPTURE(text);
    CHECK(is_utf8(text));
  }
  for (const auto& text : malformed) {
    CAPTURE(printable(text, 100));
    CHECK_FALSE(is_utf8(text));
  }
}

TEST_CASE("utf8: a text from outside is shown with what is none in it, up to a bound") {
  CHECK(printable("plain \xc3\xa9\xf0\x9f\x8e\xad", 100) == "plain \xc3\xa9\xf0\x9f\x8e\xad");
  CHECK(printable("a\nb\x7f\x01", 100) == "a\\u000ab\\u007f\\u0001");
  CHECK(printable("a\xffz\xed\xa0\x80", 100) ==
        "a\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(printable("abcdef", 6) == "abcdef");
  CHECK(printable("abcdefg", 6) == "abcdef...");
  CHECK(printable("abcd\xf0\x9f\x8e\xad", 6) == "abcd...");
}

TEST_CASE("utf8: what acts on a terminal or hides is written as an escape") {
  CHECK(printable("a\x1b[2Jb", 100) == "a\\u001b[2Jb");  // clears it
  CHECK(printable("a\xc2\x9b"
                  "2Jb",
                  100) == "a\\u009b2Jb");                                    // as C1
  CHECK(printable("user\xe2\x80\xaegpj.exe", 100) == "user\\u202egpj.exe");  // turns it round
  CHECK(printable("pay\xe2\x80\x8bpal", 100) == "pay\\u200bpal");            // has no width
  CHECK(printable("\xef\xbb\xbfx\xe2\x81\xa6y", 100) == "\\ufeffx\\u2066y");
  CHECK(printable("a\xe2\x80\xa8z", 100) == "a\\u2028z");             // ends a line
  CHECK(printable("a\xf3\xa0\x81\x81z", 100) == "a\\udb40\\udc41z");  // a tag
  CHECK(printable("\xc2\xa0\xe2\x80\x94\xf4\x8f\xbf\xbf", 100) ==
        "\xc2\xa0\xe2\x80\x94\xf4\x8f\xbf\xbf");
}

TEST_CASE("utf8: a long text says how long it is, and lines stay where they may") {
  CHECK(printable_text("abcdefg", 6, line_ends::kept) == "abcdef... (7 bytes)");
  CHECK(printable_text("abcdef", 6, line_ends::kept) == "abcdef");
  CHECK(printable_text("a\n\tb\x1b\r", 100, line_ends::kept) == "a\n\tb\\u001b\\u000d");
  CHECK(printable_text("a\n\tb\x1b\r", 100, line_ends::short_escapes) == "a\\n\\tb\\u001b\\u000d");
  CHECK(printable_text("a\n", 100, line_ends::escaped) == "a\\u000a");
  CHECK(printable_lines("one\ntwo\x9b") == "one\ntwo\xef\xbf\xbd");
  const std::string family = "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7";  // two, joined
  CHECK(printable_lines(family) == family);
  CHECK(printable(family, 100) == "\xf0\x9f\x91\xa9\\u200d\xf0\x9f\x91\xa7");
}

TEST_CASE("utf8: a line of JSON stays JSON when it is made printable") {
  const nlohmann::json said{{"text", "\x7f\xc2\x9b\xe2\x80\xae\xf3\xa0\x81\x81 \x1b\n"}};
  const auto shown = printable_text(said.dump(), 1000, line_ends::short_escapes);
  CHECK(is_utf8(shown));
  CHECK(shown.find('\x7f') == shown.npos);
  CHECK(nlohmann::json::parse(shown) == said);
}

}  // namespace
}  // namespace troupe::detail

#include "runtime/base/utf8.hpp"

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

}  // namespace
}  // namespace troupe::detail

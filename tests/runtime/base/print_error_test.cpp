#include "runtime/base/print_error.hpp"

#include <string>

#include "tests/captured_stream.hpp"

namespace troupe {
namespace {

TEST_CASE("print_error: the lines of an error stay, and its escapes don't act") {
  troupe::testing::captured_stderr captured;
  print_error("troupe train", "the server said\n  \x1b]0;title\x07 and went");
  CHECK(captured.text() == "troupe train: the server said\n  \\u001b]0;title\\u0007 and went\n");
}

TEST_CASE("print_error: an error of any length ends") {
  troupe::testing::captured_stderr captured;
  print_error(std::string(200'000, 'x'));
  const auto text = captured.text();
  CHECK(text.size() < 66'000);
  CHECK(text.ends_with("xx... (200000 bytes)\n"));
}

}  // namespace
}  // namespace troupe

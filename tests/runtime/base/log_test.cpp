#include "runtime/base/log.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tests/captured_stream.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

TEST_CASE("log: whole numbers are written with all of their digits") {
  const auto text_of = [](auto number) { return log::field("name", number).value; };
  CHECK(text_of(std::int64_t{4'294'967'296}) == "4294967296");
  CHECK(text_of(-1'234'567) == "-1234567");
  CHECK(text_of(601'115) == "601115");
  CHECK(text_of(30.0) == "30");
  CHECK(text_of(true) == "1");
  CHECK(text_of(0.5) == "0.5");
  CHECK(text_of(1e300) == "1e+300");
  CHECK(text_of(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(text_of(std::numeric_limits<double>::quiet_NaN()) == "nan");
}

TEST_CASE("log: no text makes a second line or reaches the terminal's controls") {
  troupe::testing::captured_stderr captured;
  log::error("a node said \x1b[2J",
             {{"name", "x\n12:00:00.000 error forged"}, {"\rkey", "\xe2\x80\xae\xff"}});
  const auto text = captured.text();
  CHECK(std::ranges::count(text, '\n') == 1);
  CHECK(text.ends_with('\n'));
  CHECK(text.find('\x1b') == text.npos);
  CHECK(text.find('\r') == text.npos);
  CHECK(text.find("a node said \\u001b[2J name=\"x\\n12:00:00.000 error forged\" "
                  "\\u000dkey=\\u202e\xef\xbf\xbd") != text.npos);
}

TEST_CASE("log: a long line ends and says how long it was") {
  troupe::testing::captured_stderr captured;
  log::error(std::string(1'000'000, 'x'), {{"error", std::string(1'000'000, 'y')}});
  const auto text = captured.text();
  CHECK(text.size() < 33'000);
  CHECK(text.ends_with("xxx... (2000007 bytes)\n"));
}

}  // namespace
}  // namespace troupe

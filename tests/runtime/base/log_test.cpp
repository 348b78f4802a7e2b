#include "runtime/base/log.hpp"

#include <cstdint>
#include <limits>

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

}  // namespace
}  // namespace troupe

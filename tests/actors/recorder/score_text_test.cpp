#include "actors/recorder/score_text.hpp"

#include <limits>

#include "tests/test.hpp"

using troupe::score_text;

TEST_CASE("score_text: three significant digits and one decimal at least", "[recorder]") {
  CHECK(score_text(500) == "500.0");
  CHECK(score_text(-1234.56) == "-1234.6");
  CHECK(score_text(9.35) == "9.35");
  CHECK(score_text(0.934) == "0.934");
  CHECK(score_text(-0.0123456) == "-0.0123");
  CHECK(score_text(1) == "1.00");
}

TEST_CASE("score_text: the digits are counted once the number is rounded", "[recorder]") {
  CHECK(score_text(9.999) == "10.0");
  CHECK(score_text(0.99999) == "1.00");
}

TEST_CASE("score_text: zero, tiny, huge and infinite numbers stay short", "[recorder]") {
  CHECK(score_text(0) == "0.0");
  CHECK(score_text(-0.0) == "0.0");
  CHECK(score_text(0.00025) == "0.000250");
  CHECK(score_text(2.5e-6) == "2.50e-06");
  CHECK(score_text(-1e300) == "-1.00e+300");
  CHECK(score_text(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(score_text(std::numeric_limits<double>::quiet_NaN()) == "nan");
}

#include "actors/recorder/axis_ticks.hpp"

#include <cmath>

#include "tests/test.hpp"

namespace {

using troupe::make_axis_ticks;
using troupe::short_number;

std::vector<std::string> labels(double low, double high, int count) {
  std::vector<std::string> result;
  for (const double value : make_axis_ticks(low, high, count).values)
    result.push_back(short_number(value, 6));
  return result;
}

TEST_CASE("axis_ticks: steps are round numbers", "[recorder]") {
  using list = std::vector<std::string>;
  CHECK(labels(0, 100352, 6) == list{"0", "20k", "40k", "60k", "80k", "100k", "120k"});
  CHECK(labels(0, 500, 6) == list{"0", "100", "200", "300", "400", "500"});
  CHECK(labels(-1600, -150, 4) == list{"-2k", "-1.5k", "-1k", "-500", "0"});
  CHECK(labels(0, 1, 5) == list{"0", "0.2", "0.4", "0.6", "0.8", "1"});
}

TEST_CASE("axis_ticks: enclose the range, also where it is empty or tiny", "[recorder]") {
  for (const auto& [low, high] : std::vector<std::pair<double, double>>{
           {0, 0}, {500, 500}, {-3, -3}, {1, 1 + 1e-15}, {-1e99, 1e99}, {0, 1e-30}, {7, 9.1}}) {
    const auto ticks = make_axis_ticks(low, high, 6);
    INFO(low << " to " << high);
    CHECK(ticks.first <= low);
    CHECK(ticks.last >= high);
    CHECK(ticks.first < ticks.last);
    CHECK(ticks.values.size() >= 2);
    CHECK(ticks.values.size() <= 12);
  }
}

TEST_CASE("short_number: three digits and a unit", "[recorder]") {
  CHECK(short_number(0) == "0");
  CHECK(short_number(950) == "950");
  CHECK(short_number(999.9) == "1k");
  CHECK(short_number(1500) == "1.5k");
  CHECK(short_number(100352) == "100k");
  CHECK(short_number(999999) == "1M");
  CHECK(short_number(-2.5e6) == "-2.5M");
  CHECK(short_number(7e9) == "7G");
  CHECK(short_number(0.05) == "0.05");
  CHECK(short_number(112500, 6) == "112.5k");
}

}  // namespace

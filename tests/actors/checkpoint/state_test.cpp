#include "actors/checkpoint/state.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "tests/test.hpp"

namespace troupe {
namespace {

template <class T>
T there_and_back(const T& value) {
  state_writer to;
  to.put("value", value);
  return state_reader(to.bytes()).get<T>("value");
}

TEST_CASE("state: floats keep their bits, also those that are no numbers") {
  for (const double value :
       {0.0, -0.0, 0.1, -1e300, 5e-324, std::nan("7"), std::numeric_limits<double>::infinity()}) {
    CHECK(std::bit_cast<std::uint64_t>(there_and_back(value)) ==
          std::bit_cast<std::uint64_t>(value));
  }
  const float subnormal = 1e-45f;
  CHECK(std::bit_cast<std::uint32_t>(there_and_back(subnormal)) == 1u);
}

TEST_CASE("state: integers keep their value over their whole range") {
  CHECK(there_and_back(std::numeric_limits<std::int64_t>::min()) ==
        std::numeric_limits<std::int64_t>::min());
  CHECK(there_and_back(std::numeric_limits<std::uint64_t>::max()) ==
        std::numeric_limits<std::uint64_t>::max());
  CHECK(there_and_back(std::int64_t{7}) == 7);
  CHECK(there_and_back(true));
}

TEST_CASE("state: vectors and bytes come back whole, empty ones too") {
  CHECK(there_and_back(std::vector<float>{1.5f, -0.0f}) == std::vector<float>{1.5f, -0.0f});
  CHECK(there_and_back(std::vector<std::int64_t>{}).empty());
  CHECK(there_and_back(std::string("a\0b\xff", 4)) == std::string("a\0b\xff", 4));
  CHECK(there_and_back(std::vector<std::string>{"", "x"}) == std::vector<std::string>{"", "x"});
}

TEST_CASE("state: equal values give equal bytes, whatever the order they were put in") {
  state_writer one, other;
  one.put("a", 1);
  one.put("b", 2.5);
  other.put("b", 2.5);
  other.put("a", 1);
  CHECK(one.bytes() == other.bytes());
}

TEST_CASE("state: a value that is missing or of another kind is refused by its name") {
  state_writer to;
  to.put("steps", std::int64_t{-1});
  to.put("moments", std::vector<std::uint8_t>{1, 2, 3});
  const state_reader from(to.bytes());
  CHECK(from.has("steps"));
  CHECK_FALSE(from.has("episodes"));
  CHECK_THROWS_WITH(from.get<std::int64_t>("episodes"),
                    "saved state: episodes: expected an integer");
  CHECK_THROWS_WITH(from.get<std::uint64_t>("steps"),
                    "saved state: steps: expected an integer >= 0");
  CHECK_THROWS_WITH(from.get<std::vector<float>>("moments"),
                    "saved state: moments: expected whole numbers of 4 bytes each");
  CHECK_THROWS_AS(from.get<std::string>("steps"), state_error);
}

TEST_CASE("state: a number too large for what it is read into is refused") {
  state_writer to;
  to.put("n", std::int64_t{1} << 40);
  CHECK_THROWS_AS(state_reader(to.bytes()).get<std::int32_t>("n"), state_error);
}

TEST_CASE("state: bytes that are no state are refused") {
  CHECK_THROWS_AS(state_reader("not CBOR"), state_error);
  CHECK_THROWS_AS(state_reader(""), state_error);
  state_writer to;
  to.put("n", 1);
  CHECK_THROWS_AS(state_reader(to.bytes() + "x"), state_error);
}

}  // namespace
}  // namespace troupe

#include "actors/checkpoint/state.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

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

TEST_CASE("state: the bytes are those that another encoder of CBOR makes of the same values") {
  state_writer to;
  auto json = nlohmann::json::object();
  for (unsigned bits = 0; bits < 64; ++bits) {
    for (const std::uint64_t less : {0, 1}) {
      const auto number = (std::uint64_t{1} << bits) - less;
      const auto name = std::to_string(number);
      to.put("u" + name, number);
      json["u" + name] = number;
      to.put("i" + name, -static_cast<std::int64_t>(number / 2) - 1);
      json["i" + name] = -static_cast<std::int64_t>(number / 2) - 1;
    }
  }
  for (const std::size_t size : {0, 1, 23, 24, 255, 256, 65'535, 65'536}) {
    const auto name = std::string(size, 'n');
    const std::vector<std::uint8_t> bytes(size, 7);
    to.put("b" + name, bytes);
    json["b" + name] = nlohmann::json::binary(bytes);
    to.put("l" + name, std::vector<std::string>(size % 1000, "x"));
    json["l" + name] = nlohmann::json::array_t(
        size % 1000, nlohmann::json::binary(std::vector<std::uint8_t>{'x'}));
  }
  const auto expected = nlohmann::json::to_cbor(json);
  CHECK((to.bytes() == std::string(expected.begin(), expected.end())));
  CHECK((std::move(to).bytes() == std::string(expected.begin(), expected.end())));
}

TEST_CASE("state: bytes that stay where they are are read without a copy") {
  state_writer to;
  to.put("moments", std::string("abc"));
  const auto bytes = to.bytes();
  const auto view = state_reader::of_view(bytes).get<std::string_view>("moments");
  CHECK(view == "abc");
  CHECK((view.data() > bytes.data() && view.data() < bytes.data() + bytes.size()));
  CHECK_THROWS_AS(state_reader::of_view({}), state_error);
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
  to.put("most", std::numeric_limits<std::uint64_t>::max());
  CHECK_THROWS_AS(state_reader(to.bytes()).get<std::int64_t>("most"), state_error);
  CHECK_THROWS_AS(state_reader(to.bytes()).get<std::int32_t>("n"), state_error);
}

TEST_CASE("state: bytes that are no state are refused") {
  CHECK_THROWS_AS(state_reader("not CBOR"), state_error);
  CHECK_THROWS_AS(state_reader(""), state_error);
  state_writer to;
  to.put("n", 1);
  CHECK_THROWS_AS(state_reader(to.bytes() + "x"), state_error);
}

/// A CBOR map in which "a" is `value`.
std::string map_of(const std::string& value) {
  return "\xa1\x61"
         "a" +
         value;
}

std::string repeated(const std::string& part, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

TEST_CASE("state: values nested deeper than 64 are refused before they fill the stack") {
  for (const std::string inner : {"\x81", "\xa1\x61k"}) {
    CHECK(state_reader(map_of(repeated(inner, 63) + '\x01')).has("a"));
    for (const std::size_t depth : {64, 1'000'000}) {
      CHECK_THROWS_WITH(state_reader(map_of(repeated(inner, depth) + '\x01')),
                        "saved state: expected at most 64 nested values, got more");
    }
  }
}

TEST_CASE("state: CBOR in forms that no state has is refused, however much of it there is") {
  const std::string tag = "\xc0", text_in_parts = "\x7f", bytes_in_parts = "\x5f",
                    list_in_parts = "\x9f", map_in_parts = "\xbf";
  for (const auto& form : {tag, text_in_parts, bytes_in_parts, list_in_parts, map_in_parts}) {
    for (const std::size_t times : {1, 1'000'000}) {
      const auto bytes = map_of(repeated(form, times) + '\x60');
      CHECK_THROWS_WITH(state_reader(bytes), "saved state: expected a CBOR map, got " +
                                                 std::to_string(bytes.size()) +
                                                 " bytes that are none");
    }
  }
}

TEST_CASE("state: CBOR of lengths that can't be true is refused") {
  const std::string most(8, '\xff');
  for (const char kind : {'\x5b', '\x7b', '\x9b', '\xbb'}) {
    CHECK_THROWS_AS(state_reader(map_of(kind + most)), state_error);
    CHECK_THROWS_AS(state_reader(map_of(std::string(1, kind) + '\0')), state_error);
  }
}

}  // namespace
}  // namespace troupe

#include "actors/checkpoint/state_codec.hpp"

#include <bit>
#include <cmath>

#include "tests/test.hpp"

namespace troupe {
namespace {

struct moments {
  std::int64_t step = 0;
  std::vector<float> first;
};
struct longer_moments {
  std::int64_t step = 0;
  std::vector<float> first, second;
};
struct holder {
  moments of;
  std::vector<std::string> names;
};

/// An owner of moments of two parameters.
struct learner {
  moments now{7, {1.5f, -0.0f}};
  moments state() const { return now; }
  void set_state(moments other) {
    if (other.first.size() != 2) throw std::invalid_argument("expected 2 moments");
    now = std::move(other);
  }
};

TEST_CASE("state_bytes: a struct comes back whole, its floats bit for bit") {
  const auto nan = std::bit_cast<float>(0x7fc12345u);
  const holder value{{3, {nan, -0.0f}}, {"a", "", "c"}};
  const auto back = state_of<holder>(state_bytes(value));
  CHECK(back.of.step == 3);
  REQUIRE(back.of.first.size() == 2);
  CHECK(std::bit_cast<std::uint32_t>(back.of.first[0]) == 0x7fc12345u);
  CHECK(std::signbit(back.of.first[1]));
  CHECK(back.names == value.names);
}

TEST_CASE(
    "state_of: bytes that are no state, cut short, or too long are refused, naming the type") {
  const auto bytes = state_bytes(moments{1, {1, 2, 3}});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_THROWS_AS(state_of<moments>(bytes.substr(0, size)), state_error);
  }
  CHECK_THROWS_WITH(state_of<moments>("damaged"),
                    Catch::Contains("moments: expected one, got 7 bytes that are none"));
  CHECK_THROWS_WITH(state_of<moments>(bytes + "x"),
                    Catch::Contains("moments: ") && Catch::Contains("1 bytes are left"));
}

TEST_CASE("state_of: a length that is a lie takes no memory") {
  auto bytes = state_bytes(moments{1, {1, 2, 3}});
  const auto length = bytes.size() - 3 * sizeof(float) - sizeof(std::uint64_t);
  for (std::size_t i = 0; i < sizeof(std::uint64_t); ++i) bytes[length + i] = '\x7f';
  CHECK_THROWS_WITH(state_of<moments>(bytes), Catch::Contains("elements are announced"));
}

TEST_CASE("state_of: another struct's state is refused, naming both") {
  CHECK_THROWS_WITH(
      state_of<holder>(state_bytes(moments{1, {1}})),
      Catch::Contains("holder: expected one, got that of a ") && Catch::Contains("moments"));
}

TEST_CASE("state_of: a struct of the same name with other members is refused") {
  auto bytes = state_bytes(longer_moments{1, {1}, {2}});
  const std::string name(detail::type_name<longer_moments>());
  const std::string other(detail::type_name<moments>());
  // The name of one with the members of the other, as in another version of the program.
  const auto place = bytes.find(name);
  bytes.replace(place, name.size(), other);
  bytes[place - sizeof(std::uint64_t)] = static_cast<char>(other.size());
  CHECK_THROWS_WITH(state_of<moments>(bytes), Catch::Contains("in this version of the program"));
}

TEST_CASE("restore_state: a state that does not fit is a state_error, and changes nothing") {
  learner one;
  restore_state(one, state_bytes(moments{9, {3, 4}}));
  CHECK(one.now.step == 9);
  CHECK_THROWS_AS(restore_state(one, state_bytes(moments{11, {3}})), state_error);
  CHECK(one.now.step == 9);
}

}  // namespace
}  // namespace troupe

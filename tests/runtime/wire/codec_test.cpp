#include "runtime/wire/codec.hpp"

#include <bit>
#include <cmath>
#include <functional>

#include "runtime/base/recycled_vector.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/wire/wire_values.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace wire_values;
using Catch::Matchers::Contains;

struct callback_holder {
  int id;
  std::function<void()> callback;
};
struct outer_holder {
  std::vector<callback_holder> all;
};
struct base {
  int a;
};
struct derived : base {
  int b;
};
struct holds_reference {
  int& to;
};
struct shape {
  virtual ~shape() = default;
};

static_assert(encodable<everything> && encodable<tree> && encodable<account>);
static_assert(encodable<std::tuple<>> && encodable<recycled_vector<std::int64_t>>);
static_assert(encodable<std::shared_ptr<const label>> && encodable<std::unique_ptr<tree>>);
static_assert(encodable<std::exception_ptr> && encodable<outcome<label>>);
static_assert(!encodable<std::string_view> && !encodable<int*> && !encodable<long double>);
static_assert(!encodable<derived> && !encodable<holds_reference> && !encodable<outer_holder>);
static_assert(!encodable<std::unique_ptr<shape>> && !encodable<std::shared_ptr<shape>>);
static_assert(!encodable<std::chrono::steady_clock::time_point>);
static_assert(encodable<std::chrono::system_clock::time_point>);

/// The bytes, to be damaged.
template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  const auto encoded = detail::encode(value);
  return {encoded.data(), encoded.data() + encoded.size()};
}

template <class T>
std::string refusal(std::vector<std::byte> bytes) {
  return testing::message_of<wire_error>([&] { detail::decode<T>(bytes); });
}

TEST_CASE("codec: one of each kind comes back as it was") {
  CHECK(there_and_back(one_of_each()) == one_of_each());
  CHECK(there_and_back(everything{}) == everything{});
}

TEST_CASE("codec: a value takes the bytes that its size says") {
  CHECK(wire_size(7) == 4);
  CHECK(wire_size(std::string("abc")) == 8 + 3);
  CHECK(wire_size(std::vector<float>(10)) == 8 + 40);
  CHECK(wire_size(std::vector<point>(10)) == 8 + 80);
  CHECK(wire_size(std::optional<double>()) == 1);
  detail::block large(wire_size(7) + 1);
  wire_writer to(large.bytes());
  to.write(7);
  CHECK(to.left() == 1);
  CHECK_THROWS_AS(to.write(7), std::logic_error);
}

TEST_CASE("codec: floats keep their bits: NaN with its payload, infinities, -0, subnormals") {
  for (const auto bits : std::vector<std::uint64_t>{
           0x7ff8000000000000u, 0x7ff0000000000001u, 0xfff8dead0000beefu, 0x7ff0000000000000u,
           0xfff0000000000000u, 0x8000000000000000u, 0x0000000000000001u, 0x800fffffffffffffu}) {
    const auto value = std::bit_cast<double>(bits);
    CHECK(std::bit_cast<std::uint64_t>(there_and_back(value)) == bits);
    const auto list = there_and_back(std::vector<double>{1, value});
    CHECK(std::bit_cast<std::uint64_t>(list[1]) == bits);
  }
  for (const std::uint32_t bits : {0x7fc00000u, 0x7f800001u, 0xffc0beefu, 0x7f800000u, 0xff800000u,
                                   0x80000000u, 0x00000001u, 0x807fffffu}) {
    const auto value = std::bit_cast<float>(bits);
    CHECK(std::bit_cast<std::uint32_t>(there_and_back(value)) == bits);
    const auto list = there_and_back(std::vector<point>{{value, 1}});
    CHECK(std::bit_cast<std::uint32_t>(list[0].x) == bits);
  }
}

TEST_CASE("codec: JSON keeps what its text could not") {
  const double payload = std::bit_cast<double>(std::uint64_t{0xfff8dead0000beefu});
  const auto back = there_and_back(nlohmann::json{{"nan", payload}, {"zero", -0.0}});
  CHECK(std::bit_cast<std::uint64_t>(back["nan"].get<double>()) == 0xfff8dead0000beefu);
  CHECK(std::signbit(back["zero"].get<double>()));
  nlohmann::json deep;
  for (int i = 0; i < 1000; ++i) deep = nlohmann::json::array({std::move(deep)});
  CHECK_THAT(refusal<nlohmann::json>(bytes_of(deep)), Contains("values within each other"));
}

TEST_CASE("codec: pointers carry the value, or nothing") {
  CHECK(*there_and_back(std::make_shared<const label>(label{"x", colour::red, 1.0})) ==
        label{"x", colour::red, 1.0});
  CHECK(there_and_back(std::shared_ptr<label>()) == nullptr);
  const auto bytes = detail::encode(std::make_unique<tree>(tree{1, {tree{2, {}}}}));
  CHECK(*detail::decode<std::unique_ptr<tree>>(bytes.bytes()) == tree{1, {tree{2, {}}}});
}

TEST_CASE("codec: what is in the way of a type is named, with what it is in") {
  CHECK(not_encodable<outer_holder>() ==
        "std::function<void ()>, in troupe::(anonymous namespace)::callback_holder");
  CHECK(not_encodable<int*>() == "int *");
}

TEST_CASE("codec: bytes that are missing or too many are refused, with type and offset") {
  const auto whole = bytes_of(one_of_each());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK(refusal<everything>({whole.begin(), whole.begin() + static_cast<long>(size)}) != "");
  }
  auto longer = whole;
  longer.push_back({});
  CHECK_THAT(refusal<everything>(longer),
             Contains("everything at byte") && Contains("1 bytes are left"));
  CHECK(refusal<std::pair<char, int>>({3, std::byte{}}) ==
        "int at byte 1: expected 4 bytes, 2 are left");
}

TEST_CASE("codec: a message's lists have together no more elements without a byte than one may") {
  using lists = std::vector<std::vector<std::monostate>>;
  const auto of = [](std::size_t lists_of_most, std::size_t last) {
    std::vector<std::byte> bytes;
    const auto add = [&](std::uint64_t count) {
      const auto encoded = bytes_of(count);
      bytes.insert(bytes.end(), encoded.begin(), encoded.end());
    };
    add(lists_of_most + 1);
    for (std::size_t i = 0; i < lists_of_most; ++i) add(wire_reader::empty_elements_max);
    add(last);
    return bytes;
  };
  CHECK(refusal<lists>(of(1, 0)) == "");
  CHECK_THAT(refusal<lists>(of(1, 1)), Contains("more than 1048576 elements without a byte"));
  CHECK_THAT(refusal<lists>(of(4, 0)), Contains("more than 1048576 elements without a byte"));
  CHECK(there_and_back(lists(1000, std::vector<std::monostate>(1000))).size() == 1000);
}

TEST_CASE("codec: a count is compared with the bytes that are left before memory is taken") {
  for (const std::uint64_t count : {~std::uint64_t{0}, std::uint64_t{1} << 61, std::uint64_t{3}}) {
    auto bytes = bytes_of(count);
    bytes.resize(bytes.size() + 2);
    CHECK_THAT(refusal<std::vector<float>>(bytes), Contains("elements are announced"));
    CHECK_THAT(refusal<std::string>(bytes), Contains("elements are announced"));
    CHECK_THAT(refusal<std::vector<std::string>>(bytes), Contains("elements are announced"));
    CHECK_THAT((refusal<std::map<int, int>>(bytes)), Contains("elements are announced"));
  }
  CHECK_THAT(refusal<std::vector<std::monostate>>(bytes_of(std::uint64_t{1} << 40)),
             Contains("elements are announced"));
  CHECK(there_and_back(std::vector<std::monostate>(1000)).size() == 1000);
  CHECK_THROWS_AS(detail::encode(std::vector<std::monostate>((1 << 20) + 1)), wire_error);
}

TEST_CASE("codec: flags, enumerators and indices out of range are refused") {
  const std::byte three{3};
  CHECK(refusal<bool>({three}) == "bool at byte 1: expected 0 or 1, got 3");
  CHECK_THAT(refusal<std::optional<int>>(std::vector(5, three)), Contains("expected 0 or 1"));
  CHECK_THAT(refusal<std::vector<bool>>(bytes_of(std::vector<std::uint8_t>{0, 1, 2})),
             Contains("bool"));
  CHECK_THAT(refusal<colour>({three}), Contains("colour has no enumerator of value 3"));
  CHECK_THAT((refusal<std::variant<int, char>>({three})), Contains("its index is 3"));
  CHECK_THROWS_AS(detail::encode(static_cast<colour>(3)), wire_error);
}

TEST_CASE("codec: keys that come twice are refused") {
  const std::vector<std::pair<int, int>> twice{{1, 2}, {1, 3}};
  CHECK_THAT((refusal<std::map<int, int>>(bytes_of(twice))), Contains("a key comes twice"));
  CHECK_THAT((refusal<std::unordered_map<int, int>>(bytes_of(twice))),
             Contains("a key comes twice"));
}

TEST_CASE("codec: values within values end at a depth") {
  tree deep{0, {}};
  for (int i = 1; i < wire_reader::depth_max; ++i) {
    tree around{i, {}};
    around.branches.push_back(std::move(deep));
    deep = std::move(around);
  }
  CHECK(there_and_back(deep) == deep);
  const tree deeper{0, {deep}};
  CHECK_THAT(refusal<tree>(bytes_of(deeper)), Contains("values within each other"));
}

}  // namespace
}  // namespace troupe

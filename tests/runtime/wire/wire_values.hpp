#pragma once
// Values of every encodable kind, and the way through bytes and back.

#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "runtime/wire/codec.hpp"

namespace troupe::wire_values {

enum class colour : std::uint8_t { red, green, blue };

struct point {
  float x = 0, y = 0;
  bool operator==(const point&) const = default;
};

struct label {
  std::string text;
  colour shade = colour::red;
  std::optional<double> weight;
  bool operator==(const label&) const = default;
};

/// Contains itself.
struct tree {
  int value = 0;
  std::vector<tree> branches;
  bool operator==(const tree&) const = default;
};

/// No aggregate: names its members.
class account {
 public:
  account() = default;
  account(std::string owner, std::int64_t cents) : owner_(std::move(owner)), cents_(cents) {}
  auto wire_members() { return std::tie(owner_, cents_); }
  bool operator==(const account&) const = default;

 private:
  std::string owner_;
  std::int64_t cents_ = 0;
};

/// Has no default: has a codec of its own, below.
class positive {
 public:
  explicit positive(int value) : value_(value) {
    if (value <= 0) throw std::invalid_argument("positive: expected > 0");
  }
  int value() const { return value_; }
  bool operator==(const positive&) const = default;

 private:
  int value_;
};

/// One of each.
struct everything {
  bool yes = false;
  char letter = 0;
  std::uint64_t large = 0;
  colour shade = colour::red;
  std::byte byte{};
  std::string text;
  std::vector<float> floats;
  std::vector<bool> flags;
  std::vector<point> points;
  std::vector<label> labels;
  std::array<std::int16_t, 3> numbers{};
  std::pair<int, std::string> pair;
  std::tuple<double, std::vector<positive>> tuple;
  std::optional<tree> optional;
  std::variant<std::monostate, account, std::vector<tree>> variant;
  std::map<std::string, int> map;
  std::unordered_map<int, label> hashed;
  std::set<std::uint16_t> set;
  std::chrono::nanoseconds time{};
  nlohmann::json json;
  bool operator==(const everything&) const = default;
};

inline everything one_of_each() {
  return {.yes = true,
          .letter = 'x',
          .large = std::numeric_limits<std::uint64_t>::max(),
          .shade = colour::blue,
          .byte = std::byte{200},
          .text = std::string("a\0b", 3),
          .floats = {1, -2, std::numeric_limits<float>::infinity()},
          .flags = {true, false, true},
          .points = {{1, 2}, {3, 4}},
          .labels = {{"sky", colour::blue, 0.5}, {"", colour::green, std::nullopt}},
          .numbers = {-1, 0, 1},
          .pair = {7, "seven"},
          .tuple = {0.25, {positive(3), positive(4)}},
          .optional = tree{1, {tree{2, {}}, tree{3, {tree{4, {}}}}}},
          .variant = account("ann", -12),
          .map = {{"a", 1}, {"b", 2}},
          .hashed = {{5, {"five", colour::red, 5.0}}},
          .set = {3, 1, 2},
          .time = std::chrono::nanoseconds(-5),
          .json = {{"list", {1, -2, 0.5, nullptr, true, "text"}},
                   {"bytes", nlohmann::json::binary({1, 2}, 7)},
                   {"nested", {{"large", std::numeric_limits<std::uint64_t>::max()}}}}};
}

template <class T>
T there_and_back(const T& value) {
  const auto bytes = detail::encode(value);
  return detail::decode<T>(bytes.bytes());
}

}  // namespace troupe::wire_values

template <>
struct troupe::wire_codec<troupe::wire_values::positive> {
  static std::size_t size(const wire_values::positive& p) { return wire_size(p.value()); }
  static void write(const wire_values::positive& p, wire_writer& to) { to.write(p.value()); }
  static wire_values::positive read(wire_reader& from) {
    const int value = from.read<int>();
    if (value <= 0) from.fail("positive", "expected > 0, got " + std::to_string(value));
    return wire_values::positive(value);
  }
};

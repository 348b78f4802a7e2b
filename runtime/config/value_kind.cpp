#include "runtime/config/value_kind.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/config/config_error.hpp"
#include "runtime/config/json_text.hpp"
#include "runtime/config/nearest_name.hpp"

namespace troupe::detail {
namespace {

using nlohmann::json;

// A double holds every integer up to this bound exactly, so 1e5 is accepted as an integer and 1e300
// is not.
constexpr double exact_integer_max = 9007199254740992.0;

[[noreturn]] void refuse(const std::string& pointer, const std::string& expected,
                         const json& value) {
  throw config_error(pointer, "expected " + expected + ", got " + show(value));
}

std::string number_text(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

// long double holds every 64-bit integer exactly, so integers are not rounded for the comparison.
bool within(long double value, const value_limits& limits) {
  return !(limits.above && value <= *limits.above) &&
         !(limits.at_least && value < *limits.at_least) &&
         !(limits.below && value >= *limits.below) && !(limits.at_most && value > *limits.at_most);
}

void describe_bounds(json& to, const value_limits& limits) {
  if (limits.above) to["exclusiveMinimum"] = *limits.above;
  if (limits.at_least) to["minimum"] = *limits.at_least;
  if (limits.below) to["exclusiveMaximum"] = *limits.below;
  if (limits.at_most) to["maximum"] = *limits.at_most;
}

struct bool_kind : value_kind {
  void read(const json& from, void* to, const std::string& pointer,
            const value_limits&) const override {
    if (!from.is_boolean()) refuse(pointer, "true or false", from);
    *static_cast<bool*>(to) = from.get<bool>();
  }
  void write(const void* from, json& to, const std::string&) const override {
    to = *static_cast<const bool*>(from);
  }
  void describe(json& to, const value_limits&) const override { to["type"] = "boolean"; }
};

struct string_kind : value_kind {
  void read(const json& from, void* to, const std::string& pointer,
            const value_limits& limits) const override {
    if (!from.is_string()) refuse(pointer, "a string", from);
    const auto& text = from.get_ref<const std::string&>();
    const auto& known = limits.one_of;
    if (!known.empty() && std::find(known.begin(), known.end(), text) == known.end())
      throw config_error(pointer, unknown_name_message("value", text, known));
    *static_cast<std::string*>(to) = text;
  }
  void write(const void* from, json& to, const std::string&) const override {
    to = *static_cast<const std::string*>(from);
  }
  void describe(json& to, const value_limits& limits) const override {
    to["type"] = "string";
    if (!limits.one_of.empty()) to["enum"] = limits.one_of;
  }
};

struct json_object_kind : value_kind {
  void read(const json& from, void* to, const std::string& pointer,
            const value_limits&) const override {
    if (!from.is_object()) refuse(pointer, "an object such as {\"size\": 5}", from);
    static_cast<json_object*>(to)->text = from.dump();
  }
  void write(const void* from, json& to, const std::string& pointer) const override {
    to = parse_json(static_cast<const json_object*>(from)->text, pointer);
  }
  void describe(json& to, const value_limits&) const override { to["type"] = "object"; }
};

template <class T>
struct number_kind : value_kind {
  void read(const json& from, void* to, const std::string& pointer,
            const value_limits& limits) const override {
    if (!from.is_number()) refuse(pointer, limits.expected("a number"), from);
    const double value = from.get<double>();
    if (!std::isfinite(static_cast<T>(value)))
      refuse(pointer, limits.expected("a finite number"), from);
    if (!within(value, limits)) refuse(pointer, limits.expected("a number"), from);
    *static_cast<T*>(to) = static_cast<T>(value);
  }
  void write(const void* from, json& to, const std::string& pointer) const override {
    const T value = *static_cast<const T*>(from);
    if (!std::isfinite(value))
      throw config_error(pointer, "expected a finite number, got " + number_text(value));
    // The shortest text that reads back the same is written: 0.0003f becomes 0.0003.
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    double shortest = 0;
    std::from_chars(text, end, shortest);
    to = shortest;
  }
  bool is_infinity(const void* from) const override {
    return *static_cast<const T*>(from) == std::numeric_limits<T>::infinity();
  }
  void describe(json& to, const value_limits& limits) const override {
    to["type"] = "number";
    describe_bounds(to, limits);
  }
};

struct integer_kind : value_kind {
  explicit integer_kind(const integer_access& access) : access(access) {}

  void read(const json& from, void* to, const std::string& pointer,
            const value_limits& limits) const override {
    long double value = 0;
    std::uint64_t bits = 0;
    if (from.is_number_unsigned()) {
      value = bits = from.get<std::uint64_t>();
    } else if (from.is_number_integer()) {
      const auto number = from.get<std::int64_t>();
      value = number;
      bits = static_cast<std::uint64_t>(number);
    } else if (from.is_number_float() && std::abs(from.get<double>()) <= exact_integer_max &&
               std::trunc(from.get<double>()) == from.get<double>()) {
      value = from.get<double>();
      bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(from.get<double>()));
    } else {
      refuse(pointer, limits.expected("an integer"), from);
    }
    if (!within(value, limits)) refuse(pointer, limits.expected("an integer"), from);
    if (value < access.lowest || value > access.highest)
      refuse(pointer,
             "an integer from " + std::to_string(access.lowest) + " to " +
                 std::to_string(access.highest),
             from);
    access.set(to, bits);
  }
  void write(const void* from, json& to, const std::string&) const override {
    const auto bits = access.get(from);
    if (access.is_signed)
      to = static_cast<std::int64_t>(bits);
    else
      to = bits;
  }
  void describe(json& to, const value_limits& limits) const override {
    to["type"] = "integer";
    describe_bounds(to, limits);
    if (!access.is_signed && !limits.above && !limits.at_least) to["minimum"] = 0;
  }

  integer_access access;
};

struct enum_kind : value_kind {
  enum_kind(enum_values values, const enum_access& access)
      : values(std::move(values)), access(access) {
    for (const auto& [name, value] : this->values) names.push_back(name);
  }

  void read(const json& from, void* to, const std::string& pointer,
            const value_limits&) const override {
    if (!from.is_string()) refuse(pointer, "one of " + show(json(names)), from);
    const auto& wanted = from.get_ref<const std::string&>();
    for (const auto& [name, value] : values)
      if (name == wanted) return access.set(to, value);
    throw config_error(pointer, unknown_name_message("value", wanted, names));
  }
  void write(const void* from, json& to, const std::string& pointer) const override {
    const auto wanted = access.get(from);
    for (const auto& [name, value] : values) {
      if (value != wanted) continue;
      to = name;
      return;
    }
    throw config_error(pointer, "expected one of " + show(json(names)) + ", got the enumerator " +
                                    std::to_string(wanted));
  }
  void describe(json& to, const value_limits&) const override { to["enum"] = names; }

  enum_values values;
  enum_access access;
  std::vector<std::string> names;
};

struct optional_kind : value_kind {
  optional_kind(value_kind_ptr inner, const optional_access& access)
      : inner(std::move(inner)), access(access) {}

  void read(const json& from, void* to, const std::string& pointer,
            const value_limits& limits) const override {
    if (from.is_null()) return access.clear(to);
    inner->read(from, access.emplace(to), pointer, limits);
  }
  void write(const void* from, json& to, const std::string& pointer) const override {
    const void* value = access.get(from);
    to = nullptr;
    if (value) inner->write(value, to, pointer);
  }
  void describe(json& to, const value_limits& limits) const override {
    json value = json::object();
    inner->describe(value, limits);
    to["anyOf"] = json::array({std::move(value), {{"type", "null"}}});
  }

  value_kind_ptr inner;
  optional_access access;
};

struct list_kind : value_kind {
  list_kind(value_kind_ptr element, const list_access& access)
      : element(std::move(element)), access(access) {}

  void read(const json& from, void* to, const std::string& pointer,
            const value_limits& limits) const override {
    // One string stands for a list of it, which needs no brackets on the command line.
    if (from.is_string() && dynamic_cast<const string_kind*>(element.get()))
      return read(json::array({from}), to, pointer, limits);
    if (!from.is_array() || from.size() < limits.items_min || from.size() > limits.items_max)
      refuse(pointer, expected(limits), from);
    access.clear(to);
    for (std::size_t i = 0; i < from.size(); ++i)
      access.append(to, *element, from[i], child_pointer(pointer, std::to_string(i)), limits);
  }
  void write(const void* from, json& to, const std::string& pointer) const override {
    to = json::array();
    for (std::size_t i = 0; i < access.size(from); ++i) {
      to.push_back(nullptr);
      access.write(from, i, *element, to.back(), child_pointer(pointer, std::to_string(i)));
    }
  }
  void describe(json& to, const value_limits& limits) const override {
    to["type"] = "array";
    to["items"] = json::object();
    element->describe(to["items"], limits);
    if (limits.items_min > 0) to["minItems"] = limits.items_min;
    if (limits.bounds_items() && limits.items_max < std::numeric_limits<std::size_t>::max())
      to["maxItems"] = limits.items_max;
  }

  static std::string expected(const value_limits& limits) {
    const auto example = limits.example.empty() ? "" : ", such as " + limits.example;
    return expected_size(limits) + example;
  }
  static std::string expected_size(const value_limits& limits) {
    if (limits.items_max == std::numeric_limits<std::size_t>::max())
      return limits.items_min == 0
                 ? "a list"
                 : "a list of at least " + std::to_string(limits.items_min) + " values";
    return "a list of " + std::to_string(limits.items_min) + " to " +
           std::to_string(limits.items_max) + " values";
  }

  value_kind_ptr element;
  list_access access;
};

}  // namespace

std::string value_limits::expected(const std::string& noun) const {
  std::string result;
  auto add = [&](const char* sign, const std::optional<double>& bound) {
    if (bound) result += (result.empty() ? " " : " and ") + (sign + number_text(*bound));
  };
  add("> ", above);
  add(">= ", at_least);
  add("< ", below);
  add("<= ", at_most);
  return noun + result;
}

value_kind_ptr make_bool_kind() { return std::make_unique<bool_kind>(); }
value_kind_ptr make_string_kind() { return std::make_unique<string_kind>(); }
value_kind_ptr make_json_object_kind() { return std::make_unique<json_object_kind>(); }
value_kind_ptr make_double_kind() { return std::make_unique<number_kind<double>>(); }
value_kind_ptr make_float_kind() { return std::make_unique<number_kind<float>>(); }

value_kind_ptr make_integer_kind(const integer_access& access) {
  return std::make_unique<integer_kind>(access);
}

value_kind_ptr make_enum_kind(enum_values values, const enum_access& access) {
  return std::make_unique<enum_kind>(std::move(values), access);
}

value_kind_ptr make_optional_kind(value_kind_ptr inner, const optional_access& access) {
  return std::make_unique<optional_kind>(std::move(inner), access);
}

value_kind_ptr make_list_kind(value_kind_ptr element, const list_access& access) {
  return std::make_unique<list_kind>(std::move(element), access);
}

}  // namespace troupe::detail

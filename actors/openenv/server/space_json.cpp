#include "actors/openenv/server/space_json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace troupe::openenv_server {

namespace {

using nlohmann::json;

// ---- Schemas.

json integer_schema(std::int64_t first, std::int64_t last) {
  return {{"type", "integer"}, {"minimum", first}, {"maximum", last}};
}

json array_schema(json items, std::int64_t size) {
  return {{"type", "array"}, {"items", std::move(items)}, {"minItems", size}, {"maxItems", size}};
}

/// Returns the schema of an array whose elements have a schema each.
json array_schema(std::vector<json> each) {
  const auto size = each.size();
  return {
      {"type", "array"}, {"prefixItems", std::move(each)}, {"minItems", size}, {"maxItems", size}};
}

json number_schema(const spaces::box& of, float low, float high) {
  json made{{"type", of.type == spaces::element::uint8 ? "integer" : "number"}};
  if (std::isfinite(low)) made["minimum"] = low;
  if (std::isfinite(high)) made["maximum"] = high;
  return made;
}

bool all_same(const std::vector<float>& bounds) {
  return std::ranges::all_of(bounds, [&](float bound) { return bound == bounds.front(); });
}

struct schema_maker {
  json operator()(const spaces::box& of) const {
    if (of.shape.size() == 1 && !(all_same(of.low) && all_same(of.high))) {
      std::vector<json> each;
      for (std::size_t i = 0; i < of.low.size(); ++i)
        each.push_back(number_schema(of, of.low[i], of.high[i]));
      return array_schema(std::move(each));
    }
    const bool alike = !of.low.empty() && all_same(of.low) && all_same(of.high);
    json made = alike ? number_schema(of, of.low.front(), of.high.front())
                      : number_schema(of, -INFINITY, INFINITY);
    for (auto extent = of.shape.rbegin(); extent != of.shape.rend(); ++extent)
      made = array_schema(std::move(made), *extent);
    return made;
  }
  json operator()(const spaces::discrete& of) const {
    return integer_schema(of.start, of.start + of.n - 1);
  }
  json operator()(const spaces::multi_discrete& of) const {
    std::vector<json> each;
    for (std::size_t i = 0; i < of.n.size(); ++i)
      each.push_back(integer_schema(of.start[i], of.start[i] + of.n[i] - 1));
    return array_schema(std::move(each));
  }
  json operator()(const spaces::multi_binary& of) const {
    return array_schema(integer_schema(0, 1), of.n);
  }
  json operator()(const spaces::text& of) const {
    return {{"type", "string"}, {"minLength", of.min_length}, {"maxLength", of.max_length}};
  }
  json operator()(const spaces::tuple& of) const {
    std::vector<json> each;
    for (const auto& part : of.parts) each.push_back(json_schema(part));
    return array_schema(std::move(each));
  }
  json operator()(const spaces::dict& of) const {
    auto properties = json::object();
    auto names = json::array();
    for (const auto& [name, part] : of.parts) {
      properties[name] = json_schema(part);
      names.push_back(name);
    }
    return {{"type", "object"},
            {"properties", std::move(properties)},
            {"required", std::move(names)},
            {"additionalProperties", false}};
  }
};

// ---- Elements.

template <class Number>
void append_number(Number number, std::string& to) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), number).ptr;
  to.append(text, end);
}

/// Appends a float so that 2 and 2.0 differ, as in Python.
void append_float(double number, std::string& to) {
  if (!std::isfinite(number)) {
    to += "null";
    return;
  }
  const auto begin = to.size();
  append_number(number, to);
  if (to.find_first_of(".e", begin) == std::string::npos) to += ".0";
}

/// Writes one element, and removes its floats from the front of `left`.
struct element_writer {
  std::span<const float>& left;
  std::string& to;

  std::span<const float> take(std::size_t count) const {
    const auto taken = left.first(count);
    left = left.subspan(count);
    return taken;
  }

  template <class WriteOne>
  void list(std::size_t count, WriteOne write_one) const {
    to += '[';
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) to += ',';
      write_one(i);
    }
    to += ']';
  }

  void nested(const spaces::box& of, std::size_t dimension) const {
    if (dimension == of.shape.size()) {
      const float number = take(1)[0];
      return of.type == spaces::element::uint8 ? append_number(static_cast<int>(number), to)
                                               : append_float(double{number}, to);
    }
    list(static_cast<std::size_t>(of.shape[dimension]),
         [&](std::size_t) { nested(of, dimension + 1); });
  }

  void one_hot(std::int64_t n, std::int64_t start) const {
    const auto floats = take(static_cast<std::size_t>(n));
    append_number(start + (std::ranges::max_element(floats) - floats.begin()), to);
  }

  void operator()(const spaces::box& of) const {
    const bool is_nothing = of.shape.empty() && of.low.empty();  // a default-constructed space
    if (is_nothing)
      to += "[]";
    else
      nested(of, 0);
  }
  void operator()(const spaces::discrete& of) const { one_hot(of.n, of.start); }
  void operator()(const spaces::multi_discrete& of) const {
    list(of.n.size(), [&](std::size_t i) { one_hot(of.n[i], of.start[i]); });
  }
  void operator()(const spaces::multi_binary& of) const {
    list(static_cast<std::size_t>(of.n), [&](std::size_t) { to += take(1)[0] != 0 ? '1' : '0'; });
  }
  void operator()(const spaces::text& of) const {
    std::string read;
    for (const float place : take(static_cast<std::size_t>(of.max_length))) {
      if (place < static_cast<float>(of.charset.size()))
        read += of.charset[static_cast<std::size_t>(place)];
    }
    to += json(std::move(read)).dump(-1, ' ', false, json::error_handler_t::replace);
  }
  void operator()(const spaces::tuple& of) const {
    list(of.parts.size(), [&](std::size_t i) { std::visit(*this, of.parts[i].as_variant()); });
  }
  void operator()(const spaces::dict& of) const {
    to += '{';
    for (const auto& [name, part] : of.parts) {
      if (to.back() != '{') to += ',';
      to += json(name).dump(-1, ' ', false, json::error_handler_t::replace) + ':';
      std::visit(*this, part.as_variant());
    }
    to += '}';
  }
};

}  // namespace

json json_schema(const space& of) { return std::visit(schema_maker{}, of.as_variant()); }

void append_json(const space& of, std::span<const float> flat, std::string& to) {
  std::visit(element_writer{flat, to}, of.as_variant());
}

void append_json(double number, std::string& to) { append_float(number, to); }

}  // namespace troupe::openenv_server

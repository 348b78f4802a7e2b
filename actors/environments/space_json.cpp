#include "actors/environments/space_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace troupe {
namespace {

using nlohmann::json;

/// Reads `count` bounds: a list, or one number for all. Null stands for `infinity`.
std::vector<float> bounds_of(const json& from, std::size_t count, float infinity) {
  const auto one = [&](const json& bound) {
    return bound.is_null() ? infinity : bound.get<float>();
  };
  if (!from.is_array()) return std::vector<float>(count, one(from));
  std::vector<float> bounds;
  for (const auto& bound : from) bounds.push_back(one(bound));
  return bounds;
}

spaces::box box_from_json(const json& of) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  spaces::box made;
  made.shape = of.at("shape").get<std::vector<std::int64_t>>();
  std::size_t count = 1;
  for (const auto n : made.shape) {
    if (n < 0 || n > (1 << 24) || count > (std::size_t{1} << 28))
      throw std::invalid_argument("expected a shape of a Box, got " + of.at("shape").dump());
    count *= static_cast<std::size_t>(n);
  }
  made.low = bounds_of(of.at("low"), count, -infinity);
  made.high = bounds_of(of.at("high"), count, infinity);
  if (made.low.size() != count || made.high.size() != count)
    throw std::invalid_argument("expected as many bounds of a Box as its shape has elements");
  if (of.at("bytes").get<bool>()) made.type = spaces::element::uint8;
  return made;
}

json json_of_bounds(const std::vector<float>& bounds) {
  const auto one = [](float bound) { return std::isfinite(bound) ? json(double{bound}) : json(); };
  const bool alike = !bounds.empty() && std::ranges::all_of(bounds, [&](float bound) {
    return bound == bounds.front();
  });
  if (alike) return one(bounds.front());
  auto each = json::array();
  for (const float bound : bounds) each.push_back(one(bound));
  return each;
}

struct json_maker {
  json operator()(const spaces::box& of) const {
    return {{"kind", "box"},
            {"shape", of.shape},
            {"low", json_of_bounds(of.low)},
            {"high", json_of_bounds(of.high)},
            {"bytes", of.type == spaces::element::uint8}};
  }
  json operator()(const spaces::discrete& of) const {
    return {{"kind", "discrete"}, {"n", of.n}, {"start", of.start}};
  }
  json operator()(const spaces::multi_discrete& of) const {
    return {{"kind", "multi_discrete"}, {"n", of.n}, {"start", of.start}};
  }
  json operator()(const spaces::multi_binary& of) const {
    return {{"kind", "multi_binary"}, {"n", of.n}};
  }
  json operator()(const spaces::text& of) const {
    return {
        {"kind", "text"}, {"max", of.max_length}, {"min", of.min_length}, {"charset", of.charset}};
  }
  json operator()(const spaces::tuple& of) const {
    auto parts = json::array();
    for (const auto& part : of.parts) parts.push_back(json::array({"", space_to_json(part)}));
    return {{"kind", "tuple"}, {"parts", std::move(parts)}};
  }
  json operator()(const spaces::dict& of) const {
    auto parts = json::array();
    for (const auto& [name, part] : of.parts)
      parts.push_back(json::array({name, space_to_json(part)}));
    return {{"kind", "dict"}, {"parts", std::move(parts)}};
  }
};

}  // namespace

json space_to_json(const space& what) { return std::visit(json_maker{}, what.as_variant()); }

space space_from_json(const json& of) {
  const auto kind = of.at("kind").get<std::string>();
  if (kind == "box") return box_from_json(of);
  if (kind == "discrete")
    return spaces::discrete(of.at("n").get<std::int64_t>(), of.at("start").get<std::int64_t>());
  if (kind == "multi_discrete")
    return spaces::multi_discrete(of.at("n").get<std::vector<std::int64_t>>(),
                                  of.at("start").get<std::vector<std::int64_t>>());
  if (kind == "multi_binary") return spaces::multi_binary(of.at("n").get<std::int64_t>());
  if (kind == "text")
    return spaces::text(of.at("max").get<std::int64_t>(), of.at("min").get<std::int64_t>(),
                        of.at("charset").get<std::string>());
  std::vector<std::pair<std::string, space>> named;
  std::vector<space> ordered;
  for (const auto& part : of.at("parts")) {
    named.emplace_back(part.at(0).get<std::string>(), space_from_json(part.at(1)));
    ordered.push_back(named.back().second);
  }
  if (kind == "dict") return spaces::dict(std::move(named));
  if (kind == "tuple") return spaces::tuple(std::move(ordered));
  throw std::invalid_argument("expected a kind of space, got \"" + kind + '"');
}

}  // namespace troupe

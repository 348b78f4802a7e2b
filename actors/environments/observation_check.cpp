#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "actors/environments/agent_layout.hpp"
#include "actors/environments/environment_check.hpp"

namespace troupe::detail {
namespace {

std::string joined(const std::string& key, const std::string& name) {
  return key.empty() ? name : name.empty() ? key : key + "/" + name;
}

/// Calls `visit(name, part)` for each part of a tuple or dict, in the order of the flattened value.
template <class Visit>
void for_each_part(const spaces::tuple& of, const Visit& visit) {
  for (std::size_t i = 0; i < of.parts.size(); ++i) visit(std::to_string(i), of.parts[i]);
}
template <class Visit>
void for_each_part(const spaces::dict& of, const Visit& visit) {
  for (const auto& [name, part] : of.parts) visit(name, part);
}

struct row_checker {
  std::span<const float> row;
  const std::string& key;
  const observation_fault& tell;

  /// Tells the first element that `is_right(i)` refuses, and how many more there are.
  template <class IsRight, class Expected>
  void require(const char* check, const IsRight& is_right, const Expected& expected) const {
    std::size_t first = row.size(), wrong = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (is_right(i)) continue;
      if (wrong++ == 0) first = i;
    }
    if (wrong == 0) return;
    auto got = fmt::format("{} as element {}", row[first], first);
    if (wrong > 1) got += fmt::format(", and {} more such elements", wrong - 1);
    tell(check, key, expected(first), std::move(got));
  }

  bool is_finite() const {
    const auto finite = [&](std::size_t i) { return std::isfinite(row[i]); };
    require("nan", finite, [](std::size_t) { return "finite numbers"; });
    return std::ranges::all_of(row, [](float each) { return std::isfinite(each); });
  }

  void one_hot(std::size_t begin, std::size_t n) const {
    const auto part = row.subspan(begin, n);
    const auto ones = std::ranges::count(part, 1.0F), zeros = std::ranges::count(part, 0.0F);
    if (ones == 1 && zeros + 1 == static_cast<std::ptrdiff_t>(n)) return;
    tell("bounds", key, fmt::format("a one-hot row of {} numbers, from element {} on", n, begin),
         fmt::format("{} ones, {} zeros and {} other numbers", ones, zeros,
                     static_cast<std::ptrdiff_t>(n) - ones - zeros));
  }

  void operator()(const spaces::box& of) const {
    if (!is_finite()) return;
    require(
        "bounds", [&](std::size_t i) { return row[i] >= of.low[i] && row[i] <= of.high[i]; },
        [&](std::size_t i) { return fmt::format("numbers from {} to {}", of.low[i], of.high[i]); });
    if (of.type != spaces::element::uint8) return;
    require(
        "dtype", [&](std::size_t i) { return row[i] == std::trunc(row[i]); },
        [](std::size_t) { return "whole numbers, for its type is uint8"; });
  }
  void operator()(const spaces::discrete& of) const { one_hot(0, static_cast<std::size_t>(of.n)); }
  void operator()(const spaces::multi_discrete& of) const {
    std::size_t begin = 0;
    for (const auto n : of.n) {
      one_hot(begin, static_cast<std::size_t>(n));
      begin += static_cast<std::size_t>(n);
    }
  }
  void operator()(const spaces::multi_binary&) const {
    require(
        "bounds", [&](std::size_t i) { return row[i] == 0 || row[i] == 1; },
        [](std::size_t) { return "zeros and ones"; });
  }
  void operator()(const spaces::text& of) const {
    const auto last = static_cast<float>(of.charset.size());
    require(
        "bounds",
        [&](std::size_t i) {
          return row[i] >= 0 && row[i] <= last && row[i] == std::trunc(row[i]);
        },
        [&](std::size_t) { return fmt::format("indices of characters from 0 to {}", last); });
  }
  void operator()(const auto& of) const {
    std::size_t begin = 0;
    for_each_part(of, [&](const std::string& name, const space& part) {
      const auto size = part.flat_size();
      const auto inner = joined(key, name);
      std::visit(row_checker{row.subspan(begin, size), inner, tell}, part.as_variant());
      begin += size;
    });
  }
};

struct part_finder {
  std::size_t index;

  std::pair<std::string, std::size_t> operator()(const spaces::tuple& of) const { return find(of); }
  std::pair<std::string, std::size_t> operator()(const spaces::dict& of) const { return find(of); }
  std::pair<std::string, std::size_t> operator()(const auto&) const { return {"", index}; }

  template <class Several>
  std::pair<std::string, std::size_t> find(const Several& of) const {
    std::pair<std::string, std::size_t> found{"", index};
    std::size_t begin = 0;
    for_each_part(of, [&](const std::string& name, const space& part) {
      const auto size = part.flat_size();
      if (index >= begin && index < begin + size) {
        auto [inner, at] = part_at(part, index - begin);
        found = {inner.empty() ? name : joined(name, inner), at};
      }
      begin += size;
    });
    return found;
  }
};

}  // namespace

void check_observation(const space& of, std::span<const float> obs, const observation_fault& tell) {
  std::visit(row_checker{obs, std::string(), tell}, of.as_variant());
}

void check_joint_observation(const env_spec& spec, std::span<const float> row,
                             const observation_fault& tell) {
  const agent_layout layout(spec);
  const auto check_part = [&](const space& of, std::span<const float> part,
                              const std::string& name) {
    check_observation(
        of, part,
        [&](const char* check, const std::string& key, std::string expected, std::string got) {
          tell(check, joined(name, key), std::move(expected), std::move(got));
        });
  };
  for (std::size_t i = 0; i < layout.count(); ++i) {
    const auto seen = layout[i].obs.of(row);
    const bool sees = std::ranges::any_of(seen, [](float each) { return each != 0; });
    if (sees || layout.acts(row, i))
      check_part(spec.agents[i].observation_space, seen, spec.agents[i].name);
  }
  if (spec.state_space) check_part(*spec.state_space, layout.state().of(row), "state");
  for (const auto& [flags, name] :
       {std::pair(layout.active(), "active"), std::pair(layout.masks(), "action masks")})
    for (const float flag : flags.of(row))
      if (flag != 0 && flag != 1)
        return tell("bounds", name, "flags of 0 or 1", fmt::format("{}", flag));
}

std::pair<std::string, std::size_t> part_at(const space& of, std::size_t index) {
  return std::visit(part_finder{index}, of.as_variant());
}

}  // namespace troupe::detail

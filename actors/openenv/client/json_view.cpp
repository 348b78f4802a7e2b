#include "actors/openenv/client/json_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <span>

#include "runtime/config/json_text.hpp"

namespace troupe::openenv {

using nlohmann::json;
using nlohmann::ordered_json;
using troupe::detail::show;

namespace {

constexpr std::int64_t elements_max = std::int64_t{1} << 24;
constexpr float infinity = std::numeric_limits<float>::infinity();

// ---- Reading and writing views.

[[noreturn]] void refuse(const std::string& where, const std::string& expected, const json& got) {
  throw std::invalid_argument(fmt::format("{}: expected {}, got {}", where, expected, show(got)));
}

bool is_count(const json& of) { return of.is_number_integer() && of > 0 && of <= elements_max; }

bool is_list_of(const json& of, const std::function<bool(const json&)>& good) {
  return of.is_array() && !of.empty() && std::ranges::all_of(of, good);
}

std::string read_pointer(const json& from, const std::string& where) {
  const char* const expected = "a JSON pointer such as \"/info_state\"";
  if (!from.is_string() || from.get_ref<const std::string&>().empty())
    refuse(where, expected, from);
  auto text = from.get<std::string>();
  try {
    const json::json_pointer checked(text);
  } catch (const json::exception&) {
    refuse(where, expected, from);
  }
  return text;
}

void require_known(const json& from, std::span<const char* const> names, const std::string& where) {
  for (const auto& [name, value] : from.items())
    if (std::ranges::find(names, name) == names.end())
      throw std::invalid_argument(fmt::format("{}/{}: expected no such member; known are {}", where,
                                              name, fmt::join(names, ", ")));
}

json read_bound(const json& from, const std::string& where) {
  const auto is_bound = [](const json& each) { return each.is_number() || each.is_null(); };
  if (!is_bound(from) && !is_list_of(from, is_bound))
    refuse(where, "a number, null or a list of these", from);
  return from;
}

json_part read_part(const json& from, const std::string& where) {
  json_part part;
  if (from.is_string()) {
    part.pointer = read_pointer(from, where);
    return part;
  }
  if (!from.is_object()) refuse(where, "a JSON pointer or an object with one", from);
  constexpr std::array names{"pointer", "shape", "low", "high", "type", "n", "start", "values"};
  require_known(from, names, where);
  const auto is_integer = [](const json& each) { return each.is_number_integer(); };
  for (const auto& [name, value] : from.items()) {
    const auto at = where + '/' + name;
    if (name == "pointer") {
      part.pointer = read_pointer(value, at);
    } else if (name == "shape") {
      if (!(value.is_array() && std::ranges::all_of(value, is_count)))
        refuse(at, "a list of sizes > 0", value);
      part.shape = value.get<std::vector<std::int64_t>>();
    } else if (name == "low") {
      part.low = read_bound(value, at);
    } else if (name == "high") {
      part.high = read_bound(value, at);
    } else if (name == "type") {
      if (value != "uint8" && value != "float32") refuse(at, "\"uint8\" or \"float32\"", value);
      part.bytes = value == "uint8";
    } else if (name == "n") {
      if (!is_count(value) && !is_list_of(value, is_count))
        refuse(at, "a number of choices > 0 or a list of these", value);
      part.n = value;
    } else if (name == "start") {
      if (!is_integer(value) && !is_list_of(value, is_integer))
        refuse(at, "an integer or a list of these", value);
      part.start = value;
    } else {
      if (!is_list_of(value, [](const json&) { return true; }))
        refuse(at, "a list of the values", value);
      part.values = value;
    }
  }
  if (!part.n.is_null() && !part.values.is_null())
    refuse(where + "/values", "none beside n", part.values);
  return part;
}

std::vector<json_part> read_parts(const json& from, const std::string& where) {
  if (!from.is_array()) return {read_part(from, where)};
  if (from.empty()) refuse(where, "at least one part", from);
  std::vector<json_part> parts;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto at = where + '/' + std::to_string(i);
    parts.push_back(read_part(from[i], at));
    for (std::size_t j = 0; j < i; ++j)
      if (parts[j].pointer == parts[i].pointer)
        refuse(at, "another pointer than that of part " + std::to_string(j), from[i]);
    if (parts.back().pointer.empty() && from.size() > 1)
      refuse(at, "a part with a pointer, as there are several", from[i]);
  }
  return parts;
}

ordered_json to_json(const json_part& part) {
  ordered_json made{{"pointer", part.pointer}};
  if (!part.values.is_null()) {
    made["values"] = part.values;
  } else if (!part.n.is_null()) {
    made["n"] = part.n;
    if (part.start != 0) made["start"] = part.start;
  } else {
    if (part.shape && !part.shape->empty()) made["shape"] = *part.shape;
    if (part.bytes) {
      made["type"] = "uint8";
      return made;
    }
    if (!part.low.is_null()) made["low"] = part.low;
    if (!part.high.is_null()) made["high"] = part.high;
  }
  return made;
}

// ---- Spaces.

/// The name of a part in a Dict: "position.x" of "/position/x".
std::string name_of(const json_part& part) {
  std::string name = part.pointer.substr(1);
  std::ranges::replace(name, '/', '.');
  return name;
}

std::size_t count_of(const json_part& part) {
  std::int64_t count = 1;
  for (const auto size : part.shape.value_or(std::vector<std::int64_t>{})) {
    count *= size;
    if (count > elements_max)
      throw std::invalid_argument(fmt::format("{}: expected a shape of at most {} numbers, got {}",
                                              part.pointer, elements_max,
                                              json(*part.shape).dump()));
  }
  return static_cast<std::size_t>(count);
}

std::vector<float> bounds_of(const json_part& part, const json& bound, float otherwise) {
  const auto one = [&](const json& each) { return each.is_null() ? otherwise : each.get<float>(); };
  const auto count = count_of(part);
  if (!bound.is_array()) return std::vector<float>(count, one(bound));
  if (bound.size() != count)
    throw std::invalid_argument(fmt::format("{}: expected {} bounds, as many as numbers, got {}",
                                            part.pointer, count, bound.size()));
  std::vector<float> bounds;
  for (const auto& each : bound) bounds.push_back(one(each));
  return bounds;
}

std::vector<std::int64_t> integers_of(const json& of, std::size_t count) {
  if (!of.is_array()) return std::vector<std::int64_t>(count, of.get<std::int64_t>());
  if (of.size() != count)
    throw std::invalid_argument(
        fmt::format("start: expected as many numbers as n has, {}, got {}", count, of.dump()));
  return of.get<std::vector<std::int64_t>>();
}

space space_of(const json_part& part) {
  if (!part.values.is_null())
    return spaces::discrete(static_cast<std::int64_t>(part.values.size()));
  if (part.n.is_array())
    return spaces::multi_discrete(part.n.get<std::vector<std::int64_t>>(),
                                  integers_of(part.start, part.n.size()));
  if (!part.n.is_null())
    return spaces::discrete(part.n.get<std::int64_t>(), integers_of(part.start, 1)[0]);
  if (part.bytes) {
    auto made = spaces::box(0, 255, *part.shape);
    made.type = spaces::element::uint8;
    return made;
  }
  auto made =
      spaces::box(bounds_of(part, part.low, -infinity), bounds_of(part, part.high, infinity));
  if (part.shape && !part.shape->empty()) made.shape = *part.shape;
  return made;
}

space space_of(const std::vector<json_part>& parts) {
  if (parts.size() == 1) return space_of(parts.front());
  std::vector<std::pair<std::string, space>> named;
  for (const auto& part : parts) named.emplace_back(name_of(part), space_of(part));
  return spaces::dict(std::move(named));
}

/// Returns the parts in the order of their names, in which a Dict has them.
std::vector<json_part> in_order(std::vector<json_part> parts) {
  std::ranges::sort(parts, {}, name_of);
  return parts;
}

// ---- Observations.

[[noreturn]] void refuse_shown(const std::string& pointer, const std::string& expected,
                               const json& got) {
  throw wrong_shape(fmt::format("openenv: /data/observation{}: expected {}, got {}", pointer,
                                expected, show(got)));
}

const json& value_at(const json& observation, const std::string& pointer) {
  const json::json_pointer at(pointer);
  if (!observation.contains(at))
    throw wrong_shape(
        fmt::format("openenv: /data/observation{}: expected a value, got none", pointer));
  return observation[at];
}

/// Appends the numbers of a value, nested lists one after another.
void gather(const json_part& part, const json& value, std::size_t depth, std::vector<float>& to) {
  if (value.is_boolean()) {
    to.push_back(value.get<bool>() ? 1 : 0);
  } else if (value.is_number()) {
    to.push_back(value.get<float>());
    if (!std::isfinite(to.back()))
      refuse_shown(part.pointer, "numbers that a 32-bit float has (at most 3.4e+38)", value);
  } else if (value.is_array() && depth < json_depth_max) {
    for (const auto& each : value) gather(part, each, depth + 1, to);
  } else {
    refuse_shown(part.pointer, "numbers", value);
  }
}

std::int64_t choice_of(const json_part& part, const json& value) {
  const auto found = std::ranges::find(part.values, value);
  if (found == part.values.end()) refuse_shown(part.pointer, "one of " + show(part.values), value);
  return found - part.values.begin();
}

/// Writes the flattened value of one part, and removes its floats from the front of `obs`.
void write_part(const json_part& part, const json& observation, std::span<float>& obs) {
  const auto& value = value_at(observation, part.pointer);
  const auto take = [&](std::size_t count) {
    const auto taken = obs.first(count);
    obs = obs.subspan(count);
    return taken;
  };
  const auto write_choice = [&](std::int64_t choice, std::int64_t count) {
    if (choice < 0 || choice >= count)
      refuse_shown(part.pointer, fmt::format("one of {} choices", count), value);
    const auto one_hot = take(static_cast<std::size_t>(count));
    std::ranges::fill(one_hot, 0.0F);
    one_hot[static_cast<std::size_t>(choice)] = 1;
  };
  if (!part.values.is_null())
    return write_choice(choice_of(part, value), static_cast<std::int64_t>(part.values.size()));
  std::vector<float> numbers;
  gather(part, value, 0, numbers);
  if (!part.n.is_null()) {
    const auto counts = part.n.is_array() ? part.n.get<std::vector<std::int64_t>>()
                                          : std::vector{part.n.get<std::int64_t>()};
    const auto starts = integers_of(part.start, counts.size());
    if (numbers.size() != counts.size())
      refuse_shown(part.pointer, fmt::format("{} integers", counts.size()), value);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      // The number may be too large for an integer, so it is compared as it is.
      const double choice = double{numbers[i]} - static_cast<double>(starts[i]);
      const bool is_known = choice >= 0 && choice < static_cast<double>(counts[i]);
      if (choice != std::floor(choice)) refuse_shown(part.pointer, "integers", value);
      write_choice(is_known ? static_cast<std::int64_t>(choice) : -1, counts[i]);
    }
    return;
  }
  const auto count = count_of(part);
  if (numbers.size() != count)
    refuse_shown(part.pointer,
                 fmt::format("{} numbers, as the view says, got {}; the view is env.options.view",
                             count, numbers.size()),
                 value);
  std::ranges::copy(numbers, take(count).begin());
}

// ---- Actions.

/// The numbers of an action that are left for the next parts.
struct numbers_left {
  std::span<const std::int64_t> integers;
  std::span<const float> floats;

  std::int64_t integer() {
    const auto first = integers.front();
    integers = integers.subspan(1);
    return first;
  }
  float number() {
    const auto first = floats.front();
    floats = floats.subspan(1);
    return first;
  }
};

json nested(const std::vector<std::int64_t>& shape, std::size_t dimension, numbers_left& left) {
  if (dimension == shape.size()) return left.number();
  auto list = json::array();
  for (std::int64_t i = 0; i < shape[dimension]; ++i)
    list.push_back(nested(shape, dimension + 1, left));
  return list;
}

json value_of(const json_part& part, numbers_left& left) {
  if (!part.values.is_null()) return part.values[static_cast<std::size_t>(left.integer())];
  if (part.n.is_array()) {
    auto list = json::array();
    for (std::size_t i = 0; i < part.n.size(); ++i) list.push_back(left.integer());
    return list;
  }
  if (!part.n.is_null()) return left.integer();
  return nested(part.shape.value_or(std::vector<std::int64_t>{}), 0, left);
}

std::optional<double> forbidden(const json_view& view, const json& observation,
                                action_view action) {
  const auto legal = legal_actions_in(view, observation);
  const bool found = std::ranges::find(legal, action.discrete()) != legal.end();
  return found ? std::nullopt : std::optional(view.illegal_reward);
}

/// Throws unless the action is a choice, which lists of legal actions need.
void require_choice(const json_view& view, const space& actions) {
  const auto& list = view.legal_actions.empty() ? view.action_mask : view.legal_actions;
  if (!list.empty() && !actions.get_if<spaces::discrete>())
    throw std::invalid_argument(fmt::format(
        "legal_actions and action_mask: expected none for actions that are no single choice, got "
        "\"{}\"",
        list));
}

/// Throws unless an action can have all these members, so none is within another one.
void require_places(const json_view& view, const std::string& where) {
  std::vector<std::string> pointers;
  for (const auto& part : view.action)
    if (!part.pointer.empty()) pointers.push_back(part.pointer);
  std::ranges::sort(pointers);
  json places = view.constants;
  for (const auto& pointer : pointers) {
    try {
      places[json::json_pointer(pointer)] = 0;
    } catch (const json::exception&) {
      refuse(where + "/action", "no member within another one, or within one of the constants",
             pointer);
    }
  }
}

}  // namespace

json_view read_view(const json& from, const std::string& where) {
  if (!from.is_object()) refuse(where, "an object with the members of a view", from);
  constexpr std::array names{"observation",   "action",      "constants",
                             "legal_actions", "action_mask", "illegal_reward"};
  require_known(from, names, where);
  json_view view;
  for (const auto& [name, value] : from.items()) {
    const auto at = where + '/' + name;
    if (name == "observation") {
      view.observation = read_parts(value, at);
    } else if (name == "action") {
      view.action = read_parts(value, at);
    } else if (name == "constants") {
      if (!value.is_object()) refuse(at, "an object with further members of each action", value);
      view.constants = value;
    } else if (name == "legal_actions") {
      view.legal_actions = read_pointer(value, at);
    } else if (name == "action_mask") {
      view.action_mask = read_pointer(value, at);
    } else {
      if (!value.is_number()) refuse(at, "a number", value);
      view.illegal_reward = value.get<double>();
    }
  }
  if (!view.legal_actions.empty() && !view.action_mask.empty())
    refuse(where + "/action_mask", "none beside legal_actions", view.action_mask);
  require_places(view, where);
  return view;
}

ordered_json to_json(const json_view& view) {
  ordered_json made = ordered_json::object();
  const auto write = [&](const char* name, const std::vector<json_part>& parts) {
    for (const auto& part : parts) made[name].push_back(to_json(part));
  };
  write("observation", view.observation);
  write("action", view.action);
  if (!view.constants.empty()) made["constants"] = view.constants;
  if (!view.legal_actions.empty()) made["legal_actions"] = view.legal_actions;
  if (!view.action_mask.empty()) made["action_mask"] = view.action_mask;
  if (!view.legal_actions.empty() || !view.action_mask.empty())
    made["illegal_reward"] = view.illegal_reward;
  return made;
}

env_spec spec_of(const json_view& view, const std::string& id) {
  return {.id = id,
          .observation_space = space_of(view.observation),
          .action_space = space_of(view.action)};
}

std::vector<std::int64_t> legal_actions_in(const json_view& view, const json& observation) {
  const bool is_mask = !view.action_mask.empty();
  const auto& pointer = is_mask ? view.action_mask : view.legal_actions;
  const auto& list = value_at(observation, pointer);
  if (!list.is_array()) refuse_shown(pointer, "a list", list);
  std::vector<std::int64_t> legal;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (is_mask) {
      if (list[i] == true || (list[i].is_number() && list[i] != 0))
        legal.push_back(static_cast<std::int64_t>(i));
    } else if (list[i].is_number_integer()) {
      legal.push_back(list[i].get<std::int64_t>());
    } else {
      refuse_shown(pointer, "integers", list);
    }
  }
  return legal;
}

numeric_view numeric_view_of(const json_view& view, env_spec spec) {
  require_choice(view, spec.action_space);
  const auto observed = in_order(view.observation), acted = in_order(view.action);
  std::int64_t first = 0, count = 0;
  if (const auto* choice = spec.action_space.get_if<spaces::discrete>()) {
    first = choice->start;
    count = choice->n;
  }
  const bool is_limited = !view.legal_actions.empty() || !view.action_mask.empty();
  numeric_view made{.spec = std::move(spec)};
  made.observe = [view, observed, is_limited, first, count](const json& observation,
                                                            std::span<float> obs) {
    for (const auto& part : observed) write_part(part, observation, obs);
    if (!is_limited) return;
    for (const auto legal : legal_actions_in(view, observation))
      if (legal < first || legal >= first + count)
        refuse_shown(view.legal_actions + view.action_mask,
                     fmt::format("actions of {} to {}, as the view says; env.options.view.action.n "
                                 "gives the number of actions",
                                 first, first + count - 1),
                     legal);
  };
  made.act = [acted, constants = view.constants](action_view action) {
    numbers_left left{action.parts(), action.floats()};
    json made = constants;
    for (const auto& part : acted) made[json::json_pointer(part.pointer)] = value_of(part, left);
    return made;
  };
  if (is_limited)
    made.forbid = [view](const json& observation, action_view action) {
      return forbidden(view, observation, action);
    };
  return made;
}

}  // namespace troupe::openenv

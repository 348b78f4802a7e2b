#include "actors/openenv/client/view_discovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <optional>
#include <set>

#include "actors/openenv/client/http_call.hpp"
#include "actors/openenv/client/io_thread.hpp"
#include "actors/openenv/client/tls.hpp"
#include "actors/openenv/client/waiting.hpp"
#include "actors/random/action_random.hpp"
#include "runtime/config/json_text.hpp"
#include "runtime/coroutine/combine.hpp"

namespace troupe::openenv {

using nlohmann::json;
using troupe::detail::show;

namespace {

constexpr std::size_t schema_bytes_max = std::size_t{16} << 20;
constexpr int references_max = 32;
/// A schema may refer to itself. Actions with more members, deeper ones or lists with more
/// dimensions are refused.
constexpr int members_max = 4096, member_depth_max = 16;
constexpr std::size_t dimensions_max = 8;
/// The most choices of an action that are taken from a schema. An option can give more.
constexpr std::int64_t schema_choices_max = 65'536;
/// Integers of an observation with at most so many values are choices, which are shown one-hot.
constexpr std::int64_t choices_max = 1024;
/// The smallest sides of lists of bytes that count as pictures.
constexpr std::int64_t picture_side_min = 16, gray_side_min = 32, channels_max = 4;
constexpr int steps_tried = 24;
/// A server frees the slot of a closed session within this time.
constexpr std::chrono::milliseconds slot_release_max{1000};

[[noreturn]] void refuse(const server_description& server, const std::string& what) {
  throw error(failure::wrong_type, "openenv: " + server.url + ": " + what);
}

// ---- JSON Schema.

/// Returns the schema of the actions or of the observations, or an empty one.
json schema_in(const server_description& server, const char* name) {
  const auto found = server.schema.find(name);
  return found != server.schema.end() && found->is_object() ? *found : json::object();
}

/// Reads the schemas of one /schema member, in which "$ref" leads to "$defs".
class schema_reader {
 public:
  explicit schema_reader(const json& root) : root_(root) {}

  /// Returns the schema that a reference, or the only choice beside null, leads to.
  json resolve(json schema) const {
    for (int i = 0; i < references_max && schema.is_object(); ++i) {
      if (const auto ref = schema.find("$ref"); ref != schema.end() && ref->is_string()) {
        schema = referred(ref->get<std::string>());
        continue;
      }
      const auto only = only_choice(schema);
      if (!only) break;
      schema = *only;
    }
    return schema.is_object() ? schema : json::object();
  }

  /// Returns the schema of a member, or an empty one.
  json member(const json& schema, const std::string& name) const {
    const auto found = resolve(schema);
    const auto properties = found.find("properties");
    if (properties == found.end() || !properties->contains(name)) return json::object();
    return resolve((*properties)[name]);
  }

  /// Returns the schema at a pointer of the value.
  json at(const json::json_pointer& pointer) const {
    if (pointer.empty()) return resolve(root_);
    return member(at(pointer.parent_pointer()), pointer.back());
  }
  json at(const std::string& pointer) const { return at(json::json_pointer(pointer)); }

 private:
  json referred(const std::string& ref) const {
    if (!ref.starts_with("#/")) return json::object();
    try {
      const json::json_pointer at(ref.substr(1));
      return root_.contains(at) ? root_[at] : json::object();
    } catch (const json::exception&) {
      return json::object();
    }
  }

  static std::optional<json> only_choice(const json& schema) {
    for (const char* name : {"anyOf", "oneOf", "allOf"}) {
      const auto choices = schema.find(name);
      if (choices == schema.end() || !choices->is_array()) continue;
      std::vector<json> left;
      for (const auto& choice : *choices)
        if (!choice.is_object() || choice.value("type", json()) != "null") left.push_back(choice);
      if (left.size() == 1) return left.front();
    }
    return std::nullopt;
  }

  const json& root_;
};

std::string type_of(const json& schema) {
  const auto found = schema.find("type");
  return found != schema.end() && found->is_string() ? found->get<std::string>() : "";
}

bool is_number(const json& schema) {
  return type_of(schema) == "integer" || type_of(schema) == "number";
}

/// Returns a bound, or null. An exclusive bound of integers is one less.
json bound_of(const json& schema, const char* name, const char* exclusive, int step) {
  if (const auto found = schema.find(name); found != schema.end() && found->is_number())
    return *found;
  const auto found = schema.find(exclusive);
  if (found == schema.end() || !found->is_number()) return nullptr;
  return type_of(schema) == "integer" ? json(found->get<std::int64_t>() + step) : *found;
}
json low_of(const json& schema) { return bound_of(schema, "minimum", "exclusiveMinimum", 1); }
json high_of(const json& schema) { return bound_of(schema, "maximum", "exclusiveMaximum", -1); }

struct integer_range {
  std::int64_t first, count;
};

std::optional<integer_range> range_of(const json& schema) {
  const auto low = low_of(schema), high = high_of(schema);
  if (type_of(schema) != "integer" || !low.is_number() || !high.is_number() || high < low)
    return std::nullopt;
  // The bounds may be any numbers of JSON, so they are limited before they become integers.
  constexpr double exact_max = 9007199254740992;  // 2^53
  const double first = std::clamp(low.get<double>(), -exact_max, exact_max);
  const double last = std::clamp(high.get<double>(), -exact_max, exact_max);
  return integer_range{static_cast<std::int64_t>(first),
                       static_cast<std::int64_t>(last - first) + 1};
}

/// Returns the values of an enum, and those of a boolean.
json values_of(const json& schema) {
  const auto found = schema.find("enum");
  if (found != schema.end() && found->is_array() && !found->empty()) return *found;
  return type_of(schema) == "boolean" ? json{false, true} : json();
}

/// A list of a fixed size, or lists of lists: its shape and the schemas of its elements, either one
/// for all or one for each.
struct list_schema {
  std::vector<std::int64_t> shape;
  std::vector<json> each;
  bool has_size = true;
};

list_schema read_list(const schema_reader& schemas, json schema) {
  list_schema made;
  while (type_of(schema) == "array" && made.shape.size() < dimensions_max) {
    const auto size = schema.value("maxItems", json());
    const bool fixed =
        size.is_number_integer() && size > 0 && size == schema.value("minItems", json());
    const auto prefix = schema.find("prefixItems");
    if (prefix != schema.end() && prefix->is_array() && !prefix->empty()) {
      made.shape.push_back(static_cast<std::int64_t>(prefix->size()));
      for (const auto& item : *prefix) made.each.push_back(schemas.resolve(item));
      return made;
    }
    made.has_size &= fixed;
    made.shape.push_back(fixed ? size.get<std::int64_t>() : 0);
    schema = schemas.resolve(schema.value("items", json::object()));
  }
  made.each.push_back(std::move(schema));
  return made;
}

bool all_alike(const json& list) {
  return std::ranges::all_of(list, [&](const json& each) { return each == list.front(); });
}

/// Sets the bounds of a list's numbers that are not set.
void set_bounds(json_part& part, const std::vector<json>& each) {
  auto low = json::array(), high = json::array();
  for (const auto& schema : each) {
    low.push_back(low_of(schema));
    high.push_back(high_of(schema));
  }
  if (part.low.is_null()) part.low = all_alike(low) ? low.front() : low;
  if (part.high.is_null()) part.high = all_alike(high) ? high.front() : high;
}

bool is_settled(const json_part& part) { return !part.n.is_null() || !part.values.is_null(); }

// ---- Actions.

/// Drafts the action's parts.
class action_drafter {
 public:
  action_drafter(const server_description& server, const json_view& asked)
      : server_(server), asked_(asked), root_(schema_in(server, "action")), schemas_(root_) {}

  /// Returns the parts, of which a choice whose count isn't known has n null and no shape.
  std::vector<json_part> draft() {
    std::vector<json_part> parts;
    const bool names_all = !asked_.action.empty() && !asked_.action.front().pointer.empty();
    if (names_all) {
      for (const auto& part : asked_.action) parts.push_back(filled(part));
      return parts;
    }
    for (auto& pointer : required_pointers()) {
      json_part part{.pointer = std::move(pointer)};
      if (!asked_.action.empty()) part = with_pointer(asked_.action.front(), part.pointer);
      parts.push_back(filled(std::move(part)));
    }
    if (!asked_.action.empty() && parts.size() != 1)
      refuse(server_,
             fmt::format("env.options.view.action: expected pointers, as the action has {} "
                         "members, got none",
                         parts.size()));
    return parts;
  }

 private:
  static json_part with_pointer(json_part part, const std::string& pointer) {
    part.pointer = pointer;
    return part;
  }

  [[noreturn]] void refuse_schema(const std::string& pointer, const std::string& expected,
                                  const json& got) const {
    refuse(server_,
           fmt::format("/schema: /action: {}: expected {}, got {}", pointer, expected, show(got)));
  }

  /// The pointers of all values that an action must have; if none is required, of all numbers.
  std::vector<std::string> required_pointers() {
    std::vector<std::string> pointers;
    collect(schemas_.resolve(root_), json::json_pointer(), true, pointers);
    if (pointers.empty()) collect(schemas_.resolve(root_), json::json_pointer(), false, pointers);
    if (pointers.empty())
      refuse(server_,
             fmt::format("/schema: /action/properties: expected a number, a choice or a list of "
                         "numbers, got {}; env.options.view.action gives the member and its "
                         "values, and task.world=openenv:URL plays worlds of words and tools",
                         show(root_.value("properties", json()))));
    return pointers;
  }

  void collect(const json& schema, const json::json_pointer& at, bool required,
               std::vector<std::string>& to, int depth = 0) {
    const auto properties = schema.find("properties");
    if (properties == schema.end() || !properties->is_object()) return;
    const auto needed = schema.value("required", json::array());
    for (const auto& [name, unresolved] : properties->items()) {
      const auto pointer = at / name;
      if (++members_ > members_max || depth > member_depth_max)
        refuse(server_,
               fmt::format("/schema: /action: {}: expected at most {} members, and {} within "
                           "one another, got more; env.options.view.action gives the "
                           "members and their values",
                           show(pointer.to_string()), members_max, member_depth_max));
      if (pointer == json::json_pointer("/metadata") || asked_.constants.contains(name)) continue;
      const auto member = schemas_.resolve(unresolved);
      const bool is_needed = std::ranges::find(needed, json(name)) != needed.end();
      if (member.contains("const") || is_needed != required) continue;
      if (member.contains("properties")) {
        collect(member, pointer, true, to, depth + 1);
      } else if (required || is_number(member) || !values_of(member).is_null() ||
                 type_of(member) == "array") {
        to.push_back(pointer.to_string());
      }
    }
  }

  json_part filled(json_part part) const {
    if (is_settled(part)) return part;
    const auto schema = schemas_.at(part.pointer);
    if (part.values = values_of(schema); !part.values.is_null()) return part;
    const auto type = type_of(schema);
    if (type == "integer") {
      const auto range = range_of(schema);
      if (range) part.n = choices_in(part.pointer, *range, schema);
      if (range && part.start == 0) part.start = range->first;
      return part;
    }
    if (type == "number") {
      if (!part.shape) part.shape = std::vector<std::int64_t>{};
      set_bounds(part, {schema});
      return part;
    }
    if (type == "array") return filled_list(std::move(part), schema);
    if (!part.shape)
      refuse_schema(part.pointer,
                    "a number, a choice or a list of numbers; env.options.view.constants gives "
                    "the value of a member that is always the same, and task.world=openenv:URL "
                    "plays worlds of words and tools",
                    schema);
    return part;
  }

  std::int64_t choices_in(const std::string& pointer, const integer_range& range,
                          const json& schema) const {
    if (range.count > schema_choices_max)
      refuse_schema(pointer,
                    fmt::format("an integer with at most {} values; env.options.view.action gives "
                                "the number n of choices, and env.options.view.constants the value "
                                "of a member that is always the same",
                                schema_choices_max),
                    schema);
    return range.count;
  }

  json_part filled_list(json_part part, const json& schema) const {
    const auto list = read_list(schemas_, schema);
    if (!std::ranges::all_of(list.each, is_number))
      refuse_schema(part.pointer,
                    "a list of numbers; env.options.view.action says which values it has", schema);
    const bool choices =
        std::ranges::all_of(list.each, [](const json& each) { return range_of(each).has_value(); });
    if (list.has_size && choices && list.shape.size() == 1) {
      part.n = json::array();
      part.start = json::array();
      for (std::int64_t i = 0; i < list.shape[0]; ++i) {
        const auto& each = list.each[list.each.size() == 1 ? 0 : static_cast<std::size_t>(i)];
        part.n.push_back(choices_in(part.pointer, *range_of(each), each));
        part.start.push_back(range_of(each)->first);
      }
      if (all_alike(part.start) && part.start.front() == 0) part.start = 0;
      return part;
    }
    if (!part.shape && !list.has_size)
      refuse_schema(part.pointer,
                    "minItems and maxItems, which are equal; "
                    "env.options.view.action.shape=[COUNT] gives the number of numbers",
                    schema);
    if (!part.shape) part.shape = list.shape;
    set_bounds(part, list.each);
    return part;
  }

  const server_description& server_;
  const json_view& asked_;
  const json root_;
  const schema_reader schemas_;
  int members_ = 0;  ///< So many members of the schema were looked at.
};

// ---- Observations.

/// Returns the shape of nested lists of numbers, or nullopt if it is none. A number has none.
std::optional<std::vector<std::int64_t>> shape_of(const json& value, std::size_t depth = 0) {
  if (value.is_number() || value.is_boolean()) return std::vector<std::int64_t>{};
  if (!value.is_array() || value.empty() || depth >= dimensions_max) return std::nullopt;
  const auto first = shape_of(value.front(), depth + 1);
  if (!first) return std::nullopt;
  for (const auto& each : value)
    if (shape_of(each, depth + 1) != first) return std::nullopt;
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(value.size())};
  shape.insert(shape.end(), first->begin(), first->end());
  return shape;
}

bool are_bytes(const json& value) {
  if (value.is_array()) return std::ranges::all_of(value, are_bytes);
  return value.is_number_integer() && value >= 0 && value <= 255;
}

bool has_sides_of_picture(const std::vector<std::int64_t>& shape) {
  const auto at_least = [](std::int64_t side, std::int64_t a, std::int64_t b) {
    return a >= side && b >= side;
  };
  if (shape.size() == 2) return at_least(gray_side_min, shape[0], shape[1]);
  if (shape.size() != 3) return false;
  const bool channels_last = shape[2] <= channels_max;
  return channels_last ? at_least(picture_side_min, shape[0], shape[1])
                       : shape[0] <= channels_max && at_least(picture_side_min, shape[1], shape[2]);
}

std::int64_t product_of(const std::vector<std::int64_t>& shape) {
  std::int64_t product = 1;
  for (const auto size : shape) product *= size;
  return product;
}

/// What an observation of OpenEnv's own environments is trained on, where not all of its numbers
/// are about the task.
struct known_observation {
  std::array<const char*, 2> has;
  const char* pointer;
};
constexpr std::array known_observations{
    known_observation{{"info_state", "legal_actions"}, "/info_state"},        // openspiel
    known_observation{{"screen", "screen_shape"}, "/screen"},                 // atari
    known_observation{{"observation", "observation_shape"}, "/observation"},  // sumo_rl
    known_observation{{"state", "portfolio_value"}, "/state"},                // finrl
    known_observation{{"board", "legal_actions"}, "/board"},                  // connect4
};

/// Drafts the observation's parts.
class observation_drafter {
 public:
  observation_drafter(const server_description& server, const json_view& view)
      : server_(server),
        view_(view),
        first_(server.observations.front()),
        root_(schema_in(server, "observation")),
        schemas_(root_) {}

  std::vector<json_part> draft(std::vector<std::string>& left_out) {
    std::vector<json_part> parts;
    for (const auto& asked : view_.observation) {
      if (asked.pointer.empty())
        refuse(server_, "env.options.view.observation: expected a pointer in each part, got none");
      std::string why;
      auto part = filled(asked, why);
      if (!part) refuse(server_, why);
      parts.push_back(*std::move(part));
    }
    if (!parts.empty()) return parts;
    for (const auto& pointer : pointers()) {
      std::string why;
      if (auto part = filled({.pointer = pointer}, why))
        parts.push_back(*std::move(part));
      else
        left_out_.push_back(why);
    }
    left_out = left_out_;
    if (parts.empty())
      refuse(server_,
             fmt::format("the first observation: expected numbers or lists of numbers of a "
                         "fixed size, got {}; env.options.view.observation gives their "
                         "pointers, and task.world=openenv:URL plays worlds of words and "
                         "tools",
                         show(first_)));
    return parts;
  }

 private:
  std::vector<std::string> pointers() {
    for (const auto& known : known_observations)
      if (std::ranges::all_of(known.has, [&](const char* name) { return first_.contains(name); })) {
        for (const auto& [name, value] : first_.items())
          if ("/" + name != known.pointer && !is_said_beside(name) &&
              "/" + name != view_.legal_actions && "/" + name != view_.action_mask)
            left_out_.push_back("/" + name);
        return {known.pointer};
      }
    std::vector<std::string> found;
    collect(first_, json::json_pointer(), found);
    return found;
  }

  static bool is_said_beside(const std::string& name) {
    constexpr std::array names{"done", "reward", "metadata", "terminated", "truncated"};
    return std::ranges::find(names, name) != names.end();
  }

  void collect(const json& value, const json::json_pointer& at, std::vector<std::string>& to) {
    const auto pointer = at.to_string();
    const bool is_top = !at.empty() && at.parent_pointer().empty();
    if (is_top && is_said_beside(at.back())) return;
    if (!pointer.empty() && (pointer == view_.legal_actions || pointer == view_.action_mask))
      return;
    if (value.is_object() && at.to_string().size() < 1000) {
      for (const auto& [name, member] : value.items()) {
        constexpr std::string_view ending = "_shape";
        const bool is_shape =
            name.ends_with(ending) && value.contains(name.substr(0, name.size() - ending.size()));
        if (!is_shape) collect(member, at / name, to);
      }
    } else if (value.is_string() && values_of(schemas_.at(pointer)).is_null()) {
      left_out_.push_back(pointer + " (a text)");
    } else if (value.is_null()) {
      left_out_.push_back(pointer + " (null in the first observation)");
    } else {
      to.push_back(pointer);
    }
  }

  /// The shape that the member beside it, NAME_shape, says of a flat list.
  std::optional<std::vector<std::int64_t>> said_shape(const std::string& pointer) const {
    const json::json_pointer at(pointer + "_shape");
    if (!first_.contains(at)) return std::nullopt;
    const auto& said = first_[at];
    const auto is_size = [](const json& each) {
      return each.is_number_integer() && each > 0 && each < 1 << 20;
    };
    if (!said.is_array() || said.empty() || said.size() > 4 || !std::ranges::all_of(said, is_size))
      return std::nullopt;
    return said.get<std::vector<std::int64_t>>();
  }

  /// Completes a part, or says why it can't be one.
  std::optional<json_part> filled(json_part part, std::string& why) const {
    const json::json_pointer at(part.pointer);
    if (!first_.contains(at)) {
      why = fmt::format(
          "env.options.view.observation: {}: expected a value of the first "
          "observation, which has the members {}",
          part.pointer, names_in(first_));
      return std::nullopt;
    }
    const auto& value = first_[at];
    const auto schema = schemas_.at(part.pointer);
    if (is_settled(part)) return part;
    if (value.is_string()) {
      part.values = values_of(schema);
      if (!part.values.is_null()) return part;
    }
    const auto seen = shape_of(value);
    if (!seen) {
      why = fmt::format("{} (no number and no list of numbers: {})", part.pointer, show(value));
      return std::nullopt;
    }
    for (const auto& other : server_.observations) {
      const auto again = other.contains(at) ? shape_of(other[at]) : std::nullopt;
      if (again != seen) {
        why = fmt::format("{} (its size or type is not always the same: {} numbers, and then {})",
                          part.pointer, product_of(*seen),
                          again ? std::to_string(product_of(*again)) : "none");
        return std::nullopt;
      }
    }
    if (!part.shape) {
      part.shape = *seen;
      const auto said = said_shape(part.pointer);
      if (seen->size() == 1 && said && product_of(*said) == seen->front()) part.shape = said;
    } else if (product_of(*part.shape) != product_of(*seen)) {
      why = fmt::format(
          "env.options.view.observation: {}: shape: expected {} numbers, as the first "
          "observation has, got {}",
          part.pointer, product_of(*seen), json(*part.shape).dump());
      return std::nullopt;
    }
    fill_bounds(part, value, schema);
    return part;
  }

  void fill_bounds(json_part& part, const json& value, const json& schema) const {
    if (value.is_boolean()) {
      if (part.low.is_null()) part.low = 0;
      if (part.high.is_null()) part.high = 1;
      return;
    }
    const bool has_bounds = !part.low.is_null() || !part.high.is_null();
    const auto range = range_of(schema);
    if (part.shape->empty() && range && range->count <= choices_max && !has_bounds) {
      part.n = range->count;
      part.start = range->first;
      part.shape.reset();
      return;
    }
    const auto list = read_list(schemas_, schema);
    const bool always_bytes = std::ranges::all_of(server_.observations, [&](const json& each) {
      return are_bytes(each[json::json_pointer(part.pointer)]);
    });
    // The schema says so, or the values and the sides look like a picture's.
    const bool is_said = part.shape->size() >= 2 && std::ranges::all_of(list.each, is_byte);
    const bool is_likely =
        has_sides_of_picture(*part.shape) && std::ranges::all_of(list.each, may_be_byte);
    part.bytes |= !has_bounds && always_bytes && (is_said || is_likely);
    const bool fits = list.each.size() == 1 ||
                      static_cast<std::int64_t>(list.each.size()) == product_of(*part.shape);
    if (!part.bytes && fits) set_bounds(part, list.each);
  }

  static bool is_byte(const json& schema) {
    return type_of(schema) == "integer" && low_of(schema) == 0 && high_of(schema) == 255;
  }
  static bool may_be_byte(const json& schema) {
    const auto low = low_of(schema), high = high_of(schema);
    return type_of(schema) != "number" && (low.is_null() || low == 0) &&
           (high.is_null() || high == 255);
  }

  static std::string names_in(const json& observation) {
    std::string names;
    for (const auto& [name, value] : observation.items())
      names += (names.empty() ? "" : ", ") + name;
    return names.empty() ? "(none)" : names;
  }

  const server_description& server_;
  const json_view& view_;
  const json& first_;
  const json root_;
  const schema_reader schemas_;
  std::vector<std::string> left_out_;
};

// ---- The number of actions.

bool is_open_choice(const json_part& part) { return !is_settled(part) && !part.shape; }

/// Finds the list of legal actions, which OpenEnv's environments call legal_actions or action_mask.
void find_legal_actions(const json& first, json_view& view) {
  if (!view.legal_actions.empty() || !view.action_mask.empty()) return;
  const auto is_choice = [](const json_part& part) {
    return is_open_choice(part) || part.n.is_number();
  };
  if (view.action.size() != 1 || !is_choice(view.action.front())) return;
  const auto is_list = [&](const char* name, auto good) {
    const auto found = first.find(name);
    return found != first.end() && found->is_array() && !found->empty() &&
           std::ranges::all_of(*found, good);
  };
  if (is_list("legal_actions", [](const json& each) { return each.is_number_integer(); }))
    view.legal_actions = "/legal_actions";
  else if (is_list("action_mask",
                   [](const json& each) { return each.is_boolean() || each == 0 || each == 1; }))
    view.action_mask = "/action_mask";
}

/// The number of actions that the lists of legal ones tell: all from 0 on were legal somewhere.
std::optional<std::int64_t> count_in(const server_description& server, const json_view& view) {
  if (!view.action_mask.empty()) {
    const json::json_pointer at(view.action_mask);
    const auto& first = server.observations.front();
    return first.contains(at) ? std::optional(static_cast<std::int64_t>(first[at].size()))
                              : std::nullopt;
  }
  if (view.legal_actions.empty()) return std::nullopt;
  std::set<std::int64_t> legal;
  for (const auto& each : server.observations) {
    if (!each.contains(json::json_pointer(view.legal_actions))) continue;
    for (const auto action : legal_actions_in(view, each)) legal.insert(action);
  }
  if (legal.empty() || *legal.begin() != 0) return std::nullopt;
  const auto last = *legal.rbegin();
  return last + 1 == std::ssize(legal) ? std::optional(last + 1) : std::nullopt;
}

/// Sets the number of actions where it is open.
void settle_choices(const server_description& server, json_view& view) {
  const auto actions = schema_in(server, "action");
  for (auto& part : view.action) {
    if (!is_open_choice(part)) continue;
    std::optional<std::int64_t> count;
    if (server.observations.front().contains("info_state")) count = openspiel_actions(server.game);
    if (!count) count = count_in(server, view);
    if (!count)
      refuse(server,
             fmt::format("/schema: /action: {}: expected an integer with minimum and maximum, "
                         "got {}{}; env.options.view.action={} gives the number of actions",
                         part.pointer, show(schema_reader(actions).at(part.pointer)),
                         view.legal_actions.empty()
                             ? ""
                             : ", and not all numbers were among the legal actions of the "
                               "first observations",
                         R"({"pointer":")" + part.pointer + R"(","n":COUNT})"));
    part.n = *count;
  }
}

/// Refuses a number of actions that can't be that of the server: with a legal action that is none
/// of them, or with masks of another size.
void require_fitting_choices(const server_description& server, const json_view& view) {
  if ((view.legal_actions.empty() && view.action_mask.empty()) || view.action.size() != 1) return;
  const auto& part = view.action.front();
  if (!part.n.is_number() || !part.start.is_number()) return;
  const auto first = part.start.get<std::int64_t>(), count = part.n.get<std::int64_t>();
  const auto refuse_count = [&](const std::string& expected) {
    refuse(server, fmt::format("env.options.view.action: {}: n: expected {}, got {}", part.pointer,
                               expected, count));
  };
  for (const auto& seen : server.observations) {
    const json::json_pointer mask(view.action_mask);
    if (!view.action_mask.empty()) {
      if (seen.contains(mask) && seen[mask].is_array() && std::ssize(seen[mask]) != count)
        refuse_count(fmt::format("{}, the size of {} in an observation", seen[mask].size(),
                                 view.action_mask));
      continue;
    }
    if (!seen.contains(json::json_pointer(view.legal_actions))) continue;
    for (const auto legal : legal_actions_in(view, seen))
      if (legal < first || legal - first >= count)
        refuse_count(
            fmt::format("the number of all actions from {} on, of which {} is legal in an "
                        "observation ({})",
                        first, legal, view.legal_actions));
  }
}

json_view drafted(const server_description& server, const json_view& asked,
                  std::vector<std::string>& left_out) {
  auto view = asked;
  view.action = action_drafter(server, asked).draft();
  find_legal_actions(server.observations.front(), view);
  view.observation = observation_drafter(server, view).draft(left_out);
  return view;
}

// ---- Asking a server.

http_answer get(const client_options& servers, const server_url& url, const std::string& path) {
  const auto thread = io_thread::of_this_process();
  std::promise<http_answer> answer;
  auto got = answer.get_future();
  const auto call = start_http_call(
      *thread,
      {.url = url,
       .path = path,
       .body = "",
       .timeout = {servers.connect_timeout, servers.named_by.connect},
       .reply_bytes_max = schema_bytes_max,
       .trust = url.tls ? std::make_shared<tls_trust>(servers.authorities) : nullptr,
       .headers = servers.headers},
      [&answer](outcome<http_answer> told) {
        told ? answer.set_value(std::move(told).value()) : answer.set_exception(told.error());
      });
  return got.get();
}

json schema_of(const client_options& servers, const server_url& url) {
  const auto where = "openenv: " + url.text + "/schema: ";
  const auto got = get(servers, url, "/schema");
  // The servers of 2025 have no schema, so the options have to say what it would.
  if (got.status == 404) return json::object();
  if (got.status != 200)
    throw error(failure::handshake,
                where + "expected status 200, got " + std::to_string(got.status));
  try {
    auto said = parse_text(got.body, schema_bytes_max);
    if (said.is_object()) return said;
    throw error(failure::wrong_type, where + "expected an object, got " + show(said));
  } catch (const bad_text& e) {
    throw error(to_failure(e.fault()), where + e.what());
  }
}

/// Returns an element of a part, drawn at random.
json drawn(const json_part& part, action_random& random) {
  if (!part.values.is_null()) return part.values[random.below(part.values.size())];
  const auto choice = [&](const json& n, const json& start) {
    return json(start.get<std::int64_t>() +
                static_cast<std::int64_t>(random.below(n.get<std::uint64_t>())));
  };
  if (part.n.is_array()) {
    auto list = json::array();
    for (std::size_t i = 0; i < part.n.size(); ++i)
      list.push_back(choice(part.n[i], part.start.is_array() ? part.start[i] : part.start));
    return list;
  }
  if (!part.n.is_null()) return choice(part.n, part.start);
  // The middle of the bounds; what has none is 0.
  const auto middle = [&](const json& low, const json& high) {
    if (low.is_number() && high.is_number())
      return json((low.get<double>() + high.get<double>()) / 2);
    return low.is_number() ? low : high.is_number() ? high : json(0.0);
  };
  const auto fill = [&](auto&& self, std::size_t dimension) -> json {
    if (dimension == part.shape->size())
      return middle(part.low.is_array() ? json() : part.low,
                    part.high.is_array() ? json() : part.high);
    auto list = json::array();
    for (std::int64_t i = 0; i < (*part.shape)[dimension]; ++i)
      list.push_back(self(self, dimension + 1));
    return list;
  };
  auto made = fill(fill, 0);
  if (made.is_array() && part.low.is_array() && part.high.is_array())
    for (std::size_t i = 0; i < std::min(made.size(), part.low.size()); ++i)
      made[i] = middle(part.low[i], part.high[i]);
  return made;
}

/// Returns an action at random, a legal one if the observation says which ones are.
std::optional<json> any_action(const json_view& view, const json& observation,
                               action_random& random) {
  json action = view.constants;
  for (const auto& part : view.action) {
    const json::json_pointer at(part.pointer);
    if (!view.legal_actions.empty() || !view.action_mask.empty()) {
      const auto legal = legal_actions_in(view, observation);
      if (legal.empty()) return std::nullopt;
      action[at] = legal[random.below(legal.size())];
    } else if (is_open_choice(part)) {
      return std::nullopt;
    } else {
      action[at] = drawn(part, random);
    }
  }
  return action;
}

task<result> reset_with(session& in, std::uint64_t seed) {
  json with{{"seed", seed}};
  auto first = co_await in.reset(std::move(with));
  co_return first;
}

/// Plays some steps at random, and adds what is seen. An action that the server refuses ends it.
task<> play(session& in, const json_view& view, server_description& of) {
  action_random random(1);
  try {
    json now = of.observations.front();
    for (int i = 0; i < steps_tried; ++i) {
      auto action = any_action(view, now, random);
      if (!action) co_return;
      auto next = co_await in.step(*std::move(action));
      now = next.observation;
      // The last observation of an episode may lack what the others have.
      if (!next.ended) of.observations.push_back(now);
      if (!next.ended) continue;
      const auto seed = static_cast<std::uint64_t>(i) + 1;
      auto first = co_await reset_with(in, seed);
      now = first.observation;
      of.observations.push_back(now);
    }
  } catch (const error& e) {
    if (!keeps_session(e.reason())) throw;
  } catch (const wrong_shape&) {
  }
}

task<found_view> explore(client servers, server_description of, json_view asked) {
  auto in = servers.open();
  auto first = co_await reset_with(in, 0);
  if (!first.observation.is_object())
    refuse(of, "the first observation: expected an object, got " + show(first.observation));
  of.observations.push_back(std::move(first.observation));
  std::vector<std::string> ignored;
  const auto draft = drafted(of, asked, ignored);
  try {
    const auto state = co_await in.state();
    const auto game = state.value("game_name", json());
    if (game.is_string()) of.game = game.get<std::string>();
  } catch (const error& e) {
    if (!keeps_session(e.reason())) throw;
  }
  co_await play(in, draft, of);
  in.close();
  co_return complete_view(of, asked);
}

/// Opens a session, and returns the refusal of a server that is full.
task<std::exception_ptr> open_one(session& in) {
  try {
    co_await reset_with(in, 0);
  } catch (const error& e) {
    if (e.reason() != failure::capacity) throw;
    co_return std::current_exception();
  }
  co_return nullptr;
}

task<std::vector<std::exception_ptr>> open_all(client servers, std::size_t count) {
  std::vector<session> sessions;
  for (std::size_t i = 0; i < count; ++i) sessions.push_back(servers.open());
  std::vector<task<std::exception_ptr>> opening;
  for (auto& each : sessions) opening.push_back(open_one(each));
  auto refusals = co_await all(std::move(opening));
  for (auto& each : sessions) each.close();
  std::erase(refusals, nullptr);
  co_return refusals;
}

}  // namespace

found_view complete_view(const server_description& server, const json_view& asked) {
  found_view found;
  found.view = drafted(server, asked, found.left_out);
  settle_choices(server, found.view);
  try {
    require_fitting_choices(server, found.view);
    const auto view = numeric_view_of(found.view, spec_of(found.view, server.url));
    // What does not fit in the first observation is wrong in each episode.
    std::vector<float> obs(view.spec.observation_space.flat_size());
    view.observe(server.observations.front(), obs);
  } catch (const std::invalid_argument& e) {
    refuse(server, std::string("env.options.view: ") + e.what());
  } catch (const wrong_shape& e) {
    refuse(server, std::string("the first observation does not fit the view: ") + e.what());
  }
  return found;
}

found_view discover_view(const client_options& servers, const json_view& asked) {
  if (servers.urls.empty())
    throw std::invalid_argument("openenv: urls: expected at least one server, got none");
  const auto url = parse_url(servers.urls.front());
  return run_here(
      explore(client(servers), {.url = url.text, .schema = schema_of(servers, url)}, asked));
}

numeric_view view_at(const client_options& servers, const json_view& asked) {
  const auto view = discover_view(servers, asked).view;
  return numeric_view_of(view, spec_of(view, servers.urls.front()));
}

session_room room_for(const client_options& servers, std::size_t count) {
  auto hurried = servers;
  hurried.sessions_together = 1;
  hurried.capacity_timeout = slot_release_max;
  const auto refusals = run_here(open_all(client(hurried), count));
  return {count - refusals.size(), refusals.empty() ? nullptr : refusals.front()};
}

}  // namespace troupe::openenv

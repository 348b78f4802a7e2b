#include "algorithms/program/option_table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "algorithms/program/text_table.hpp"

namespace troupe::command {

namespace {

using nlohmann::json;
using rows = std::vector<std::vector<std::string>>;

/// A number as one would type it, such as 2048, 0.0003 or 1e+15.
std::string number(const json& value) {
  const auto as_float = value.get<double>();
  const bool is_short = value.is_number_integer() && std::abs(as_float) < 1e9;
  return is_short ? value.dump() : fmt::format("{}", as_float);
}

/// The bounds of a number, such as "> 0, <= 1". Empty means that there are none.
std::string bounds_of(const json& schema) {
  std::string text;
  for (const auto& [keyword, sign] : {std::pair{"exclusiveMinimum", "> "},
                                      {"minimum", ">= "},
                                      {"exclusiveMaximum", "< "},
                                      {"maximum", "<= "}}) {
    if (!schema.contains(keyword)) continue;
    text += (text.empty() ? "" : ", ") + (sign + number(schema[keyword]));
  }
  return text;
}

/// The values that are allowed, such as "> 0", "sync|async", "up to 8 of >= 1", "number or null".
std::string range_of(const json& schema) {
  if (schema.contains("anyOf")) return range_of(schema["anyOf"][0]) + " or null";
  if (schema.contains("enum")) {
    std::string names;
    for (const auto& name : schema["enum"]) {
      names += (names.empty() ? "" : "|") + name.get<std::string>();
    }
    return names;
  }
  const auto type = schema.value("type", std::string());
  if (type == "boolean") return "true|false";
  if (type == "array") {
    const auto items = range_of(schema["items"]);
    if (!schema.contains("maxItems")) return "list of " + items;
    return "up to " + number(schema["maxItems"]) + " of " + items;
  }
  const auto bounds = bounds_of(schema);
  return bounds.empty() ? type : bounds;
}

std::string meaning_of(const json& schema) {
  auto meaning = schema.value("description", std::string());
  const auto unit = schema.value("unit", std::string());
  if (unit.empty()) return meaning;
  return meaning.empty() ? unit : unit + ": " + meaning;
}

std::string default_of(const json& schema) {
  if (!schema.contains("default")) return "";
  const auto& value = schema["default"];
  return value.is_number()   ? number(value)
         : value.is_string() ? value.get<std::string>()
                             : value.dump();
}

void add_options(const json& schema, const std::string& section, rows& to) {
  for (const auto& [name, option] : schema["properties"].items()) {
    if (option.contains("properties")) continue;
    to.push_back({section + name, default_of(option), range_of(option), meaning_of(option)});
  }
  for (const auto& [name, option] : schema["properties"].items()) {
    if (option.contains("properties")) add_options(option, section + name + '.', to);
  }
}

/// The values of an option that has few, as one types them.
std::vector<std::string> values_of(const json& schema) {
  if (schema.contains("anyOf")) return values_of(schema["anyOf"][0]);
  if (schema.contains("enum")) return schema["enum"].get<std::vector<std::string>>();
  if (schema.value("type", std::string()) == "boolean") return {"true", "false"};
  return {};
}

void add_names(const json& schema, const std::string& section, std::vector<known_name>& to) {
  for (const auto& [name, option] : schema["properties"].items()) {
    if (option.contains("properties")) {
      add_names(option, section + name + '.', to);
      continue;
    }
    const auto before = section + name + '=';
    const auto usual = default_of(option);
    to.push_back({before, (usual.empty() ? "" : '[' + usual + "] ") + meaning_of(option)});
    for (const auto& value : values_of(option)) to.push_back({before + value});
  }
}

}  // namespace

std::vector<known_name> option_names(const json& schema) {
  std::vector<known_name> names;
  add_names(schema, "", names);
  return names;
}

std::string option_table(const json& schema) {
  rows options{{"option", "default", "range", "meaning"}};
  add_options(schema, "", options);
  return text_table(options);
}

}  // namespace troupe::command

#include "tests/fuzz/malformed_config.hpp"

#include <algorithm>
#include <stdexcept>

namespace troupe::testing {

using nlohmann::json;
using pointer = json::json_pointer;

namespace {

/// What an optional's schema says of its value.
const json& unwrapped(const json& schema) {
  return schema.contains("anyOf") ? schema["anyOf"][0] : schema;
}

bool has_bounds(const json& schema) {
  const auto& inner = unwrapped(schema);
  return std::any_of(inner.items().begin(), inner.items().end(), [](const auto& item) {
    return item.key().find("inimum") != std::string::npos ||
           item.key().find("aximum") != std::string::npos;
  });
}

bool is_of_type(const json& schema, const std::string& type) {
  return unwrapped(schema).value("type", "") == type;
}

/// Does a value have the type that a schema asks for? Limits aside.
bool fits(const json& schema, const json& value) {
  if (schema.contains("anyOf")) return value.is_null() || fits(schema["anyOf"][0], value);
  if (schema.contains("enum")) {
    const auto& names = schema["enum"];
    return std::find(names.begin(), names.end(), value) != names.end();
  }
  const std::string type = schema.at("type");
  if (type == "boolean") return value.is_boolean();
  if (type == "string") return value.is_string();
  if (type == "number") return value.is_number();
  if (type == "object") return value.is_object();
  if (type == "array")  // a string stands for a list of one
    return value.is_array() || (value.is_string() && is_of_type(schema["items"], "string"));
  return value.is_number_integer() ||
         (value.is_number_float() && std::abs(value.get<double>()) < 1e15 &&
          std::trunc(value.get<double>()) == value.get<double>());
}

/// "/a/b" as "a.b".
std::string dotted(const pointer& at) {
  std::string text = at.to_string().substr(1);
  std::replace(text.begin(), text.end(), '/', '.');
  return text;
}

std::string repeat(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

const std::vector<std::string>& broken_utf8() {
  static const std::vector<std::string> bytes = {
      "\xff", "\xc3\x28", "\xc0\xaf", "\xed\xa0\x80", "\xf8\x88\x80\x80\x80", "\xe2\x82", "\x80"};
  return bytes;
}

}  // namespace

config_mutator::config_mutator(json schema, json defaults) : defaults_(std::move(defaults)) {
  collect(schema, pointer());
}

void config_mutator::collect(const json& schema, const pointer& at) {
  if (!schema.contains("properties")) {
    fields_.push_back({at, schema});
    return;
  }
  objects_.push_back(at);
  for (const auto& [name, property] : schema["properties"].items()) collect(property, at / name);
}

const std::vector<config_mutator::named_mutation>& config_mutator::mutations() {
  using m = config_mutator;
  static const std::vector<named_mutation> all = {
      {"wrong type", &m::wrong_type},
      {"wrong element", &m::wrong_element},
      {"too many elements", &m::too_many_elements},
      {"out of range", &m::out_of_range},
      {"huge integer", &m::huge_integer},
      {"unknown key", &m::unknown_key},
      {"duplicate key", &m::duplicate_key},
      {"truncated", &m::truncated},
      {"no JSON value", &m::no_json_value},
      {"not UTF-8", &m::not_utf8},
      {"nested too deep", &m::nested_too_deep},
      {"garbage", &m::garbage},
      {"no object", &m::no_object},
      {"override without value", &m::override_without_value},
      {"override with empty key", &m::override_with_empty_key},
      {"override too long", &m::override_too_long},
      {"override through a value", &m::override_through_value},
      {"override of an unknown key", &m::override_of_unknown_key},
      {"override of a wrong type", &m::override_of_wrong_type},
      {"override out of range", &m::override_out_of_range},
      {"override not UTF-8", &m::override_not_utf8},
  };
  return all;
}

std::size_t config_mutator::kinds() { return mutations().size(); }

malformed_config config_mutator::make(std::uint64_t seed) {
  random_.seed(seed);
  const auto& chosen = one_of(mutations());
  malformed_config c{.kind = chosen.kind, .text = valid_document().dump(2)};
  (this->*chosen.apply)(c);
  return c;
}

// ---- parts

template <class Predicate>
const config_mutator::field& config_mutator::field_that(Predicate holds) {
  std::vector<const field*> fitting;
  for (const auto& f : fields_) {
    if (holds(f.schema)) fitting.push_back(&f);
  }
  if (fitting.empty()) throw std::logic_error("config_mutator: no field of the schema fits");
  return *one_of(fitting);
}

/// The defaults, with some left out.
json config_mutator::valid_document() {
  json document = defaults_;
  for (const auto& f : fields_) {
    if (draw(3) == 0) document.at(f.at.parent_pointer()).erase(f.at.back());
  }
  return document;
}

json config_mutator::wrong_value(const json& schema) {
  static const std::vector<json> pool = {
      nullptr, true,   false,          3,          -7,
      1.5,     -0.25,  1e30,           "",         "text",
      "sync ", "NULL", "1e-3",         "NaN",      json::array(),
      {1, 2},  {"a"},  json::object(), {{"a", 1}}, json::array({json::object()})};
  for (;;) {
    const auto& value = one_of(pool);
    if (!fits(schema, value)) return value;
  }
}

/// Of the right type, outside of a bound.
json config_mutator::value_out_of_range(const json& schema) {
  const auto& inner = unwrapped(schema);
  const bool whole = is_of_type(schema, "integer");
  const double by =
      whole ? static_cast<double>(1 + draw(1000)) : 1e-3 * static_cast<double>(1 + draw(1000));
  std::vector<double> outside;
  if (inner.contains("minimum")) outside.push_back(inner["minimum"].get<double>() - by);
  if (inner.contains("maximum")) outside.push_back(inner["maximum"].get<double>() + by);
  if (inner.contains("exclusiveMinimum")) {
    outside.push_back(inner["exclusiveMinimum"].get<double>());
    outside.push_back(inner["exclusiveMinimum"].get<double>() - by);
  }
  if (inner.contains("exclusiveMaximum"))
    outside.push_back(inner["exclusiveMaximum"].get<double>());
  const double value = one_of(outside);
  if (whole) return static_cast<std::int64_t>(value);
  return value;
}

/// A key that no object of the schema has there.
std::string config_mutator::unknown_name(const pointer& object) {
  static const std::vector<std::string> pool = {"x",
                                                "",
                                                " ",
                                                "lrr",
                                                "n_step",
                                                "ENV",
                                                "a/b",
                                                "a~b",
                                                "~1",
                                                "\xc3\xa4",
                                                "\xf0\x9f\x98\x80",
                                                "a\"b",
                                                "\n",
                                                std::string(1, '\0'),
                                                "__proto__",
                                                "0",
                                                "-1",
                                                "true"};
  if (draw(8) == 0) return std::string(1 + draw(100'000), 'k');
  for (;;) {
    const auto& name = one_of(pool);
    if (!defaults_.at(object).contains(name)) return name;
  }
}

std::string config_mutator::with_raw(json document, const pointer& at, const std::string& raw) {
  const std::string mark = "@here@";
  document[at] = mark;
  auto text = document.dump(draw(2) == 0 ? 2 : -1);
  return text.replace(text.find('"' + mark + '"'), mark.size() + 2, raw);
}

// ---- in the file

void config_mutator::wrong_type(malformed_config& c) {
  auto document = valid_document();
  if (draw(5) == 0) {  // A section that is no object.
    const auto& at = objects_[1 + draw(objects_.size() - 1)];
    document[at] = one_of(std::vector<json>{nullptr, 1, "text", json::array(), false});
    c.place = at.to_string();
  } else {
    const auto& f = one_of(fields_);
    document[f.at] = wrong_value(f.schema);
    c.place = f.at.to_string();
  }
  c.text = document.dump(2);
}

void config_mutator::wrong_element(malformed_config& c) {
  const auto& f = field_that([](const json& s) {
    return is_of_type(s, "array") && is_of_type(unwrapped(s)["items"], "integer");
  });
  const auto& items = unwrapped(f.schema)["items"];
  const auto size = 1 + draw(unwrapped(f.schema).value("maxItems", std::size_t{8}));
  const auto wrong = draw(size);
  auto list = json::array();
  for (std::size_t i = 0; i < size; ++i) list.push_back(i == wrong ? wrong_value(items) : json(64));
  auto document = valid_document();
  document[f.at] = std::move(list);
  c.text = document.dump(2);
  c.place = (f.at / wrong).to_string();
}

void config_mutator::too_many_elements(malformed_config& c) {
  const auto& f = field_that([](const json& s) { return unwrapped(s).contains("maxItems"); });
  const auto most = unwrapped(f.schema)["maxItems"].get<std::size_t>();
  auto document = valid_document();
  document[f.at] = json(std::vector<int>(most + 1 + draw(10'000), 64));
  c.text = document.dump();
  c.place = f.at.to_string();
}

void config_mutator::out_of_range(malformed_config& c) {
  const auto& f = field_that(has_bounds);
  auto document = valid_document();
  document[f.at] = value_out_of_range(f.schema);
  c.text = document.dump(2);
  c.place = f.at.to_string();
}

void config_mutator::huge_integer(malformed_config& c) {
  const auto& f = field_that([](const json& s) { return is_of_type(s, "integer"); });
  const auto digits = std::string(1, '1') + repeat("0", 20 + draw(280));
  c.text = with_raw(valid_document(), f.at, (draw(2) == 0 ? "-" : "") + digits);
  c.place = f.at.to_string();
}

void config_mutator::unknown_key(malformed_config& c) {
  auto document = valid_document();
  const auto& object = one_of(objects_);
  const auto name = unknown_name(object);
  document[object][name] = wrong_value(fields_.front().schema);
  c.text = document.dump(2);
  // A long name is cut, and a control character is written another way.
  const auto plain =
      std::find_if(name.begin(), name.end(), [](char c) { return c >= 0 && c < 0x20; });
  c.place = (object / std::string(name.begin(), plain).substr(0, 60)).to_string();
}

void config_mutator::duplicate_key(malformed_config& c) {
  const auto& f = one_of(fields_);
  const auto value = defaults_.at(f.at).dump();
  const auto key = json(f.at.back()).dump();
  c.text = with_raw(valid_document(), f.at, value + ", " + key + ": " + value);
  c.place = f.at.to_string();
}

void config_mutator::truncated(malformed_config& c) { c.text.resize(draw(c.text.rfind('}'))); }

void config_mutator::no_json_value(malformed_config& c) {
  static const std::vector<std::string> pool = {
      "NaN",     "nan",         "-NaN",      "Infinity", "-Infinity",  "inf",
      "1e999",   "-1e400",      "undefined", "None",     "True",       "'x'",
      "0x10",    "01",          ".5",        "5.",       "+1",         "1e",
      "--1",     "1 2",         "[1,]",      "{\"a\":}", "{1: 2}",     "\"open",
      "\"\\x\"", "\"\\ud800\"", "\"a\nb\"",  "// no\n1", "/* no */ 1", "",
      ",",       "]",           "}"};
  c.text = with_raw(valid_document(), one_of(fields_).at, one_of(pool));
}

void config_mutator::not_utf8(malformed_config& c) {
  const auto& bytes = one_of(broken_utf8());
  const auto& at = one_of(fields_).at;
  if (draw(2) == 0) {
    c.text = with_raw(valid_document(), at, "\"a" + bytes + "b\"");
  } else {
    c.text = with_raw(valid_document(), at, "1, \"" + bytes + "\": 1");
  }
}

void config_mutator::nested_too_deep(malformed_config& c) {
  const auto depth = 65 + draw(20'000);
  const bool lists = draw(2) == 0;
  const auto deep = lists ? repeat("[", depth) + repeat("]", depth)
                          : repeat("{\"a\":", depth) + "1" + repeat("}", depth);
  const std::string inner = lists ? "/0/0" : "/a/a";
  if (draw(3) == 0) {
    c.text = deep;
    c.place = inner;
  } else {
    const auto& at = one_of(fields_).at;
    c.text = with_raw(valid_document(), at, deep);
    c.place = at.to_string() + inner;
  }
}

/// Bytes are changed, taken out and put in until it is no JSON any more.
void config_mutator::garbage(malformed_config& c) {
  do {
    const auto place = draw(c.text.size());
    switch (draw(3)) {
      case 0:
        c.text[place] = static_cast<char>(random_());
        break;
      case 1:
        c.text.erase(place, 1 + draw(8));
        break;
      default:
        c.text.insert(place, 1, static_cast<char>(random_()));
    }
  } while (!c.text.empty() && json::accept(c.text));
}

void config_mutator::no_object(malformed_config& c) {
  c.text = one_of(std::vector<std::string>{"[]", "3", "\"text\"", "true", "null", "[{}]", " 1.5 "});
  c.place = "configuration";
}

// ---- on the command line

void config_mutator::override_without_value(malformed_config& c) {
  c.overrides = {dotted(one_of(fields_).at)};
  c.place = c.overrides[0];
}

void config_mutator::override_with_empty_key(malformed_config& c) {
  const auto path = dotted(one_of(fields_).at);
  c.overrides = {
      one_of(std::vector<std::string>{"=1", "." + path + "=1", path + ".=1", "..=1", "a..b=1"})};
  c.place = c.overrides[0];
}

void config_mutator::override_too_long(malformed_config& c) {
  const auto keys = repeat("a.", 64 + draw(1000));
  c.overrides = {keys + "a=1"};
  c.place = keys.substr(0, 60);
}

void config_mutator::override_through_value(malformed_config& c) {
  const auto& f =
      field_that([](const json& s) { return !is_of_type(s, "array") && !is_of_type(s, "object"); });
  c.overrides = {dotted(f.at) + ".x=1"};
  c.place = f.at.to_string();
}

void config_mutator::override_of_unknown_key(malformed_config& c) {
  const auto& object = one_of(objects_);
  const auto name =
      one_of(std::vector<std::string>{"x", "lrr", "n_step", "Mode", "a/b", "a~b", " "});
  c.overrides = {(object.empty() ? "" : dotted(object) + ".") + name + "=1"};
  c.place = (object / name).to_string();
}

void config_mutator::override_of_wrong_type(malformed_config& c) {
  // A text that is no JSON is a string, so a field of a string or of a list of strings takes
  // anything but a value.
  const auto& f = field_that([](const json& s) {
    return !is_of_type(s, "string") &&
           !(is_of_type(s, "array") && is_of_type(unwrapped(s)["items"], "string"));
  });
  static const std::vector<std::string> words = {
      "", "fast", "NaN", "1e999", "0x10", "tru", "[1, 2", "1 2", "{\"a\":", "nul", "-", "1,5"};
  const auto value = draw(2) == 0 ? one_of(words) : wrong_value(f.schema).dump();
  c.overrides = {dotted(f.at) + "=" + value};
  c.place = f.at.to_string();
}

void config_mutator::override_out_of_range(malformed_config& c) {
  const auto& f = field_that(has_bounds);
  c.overrides = {dotted(f.at) + "=" + value_out_of_range(f.schema).dump()};
  c.place = f.at.to_string();
}

void config_mutator::override_not_utf8(malformed_config& c) {
  const auto& at = one_of(fields_).at;
  const auto& bytes = one_of(broken_utf8());
  if (draw(2) == 0) {
    c.overrides = {dotted(at) + "=a" + bytes};
    c.place = at.to_string();
  } else {
    c.overrides = {dotted(at) + bytes + "=1"};
    c.place = at.to_string();
  }
}

}  // namespace troupe::testing

#include "runtime/config/options_schema.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/base/log.hpp"
#include "runtime/config/config_error.hpp"
#include "runtime/config/json_text.hpp"
#include "runtime/config/nearest_name.hpp"

namespace troupe::detail {

using nlohmann::json;

namespace {

/// The members of a schema that tell add_sentences what to say of an option. No option has such a
/// name.
constexpr const char* effect_if = "$has_effect_if";
constexpr const char* no_effect = "$has_no_effect";
constexpr const char* must_be = "$must_be";

/// Adds `words` to that member of each option of `schema`, which is a section or an option.
void add_words(json& schema, const char* member, const std::string& words) {
  if (!schema.contains("properties")) {
    schema[member].push_back(words);
    return;
  }
  for (auto& option : schema["properties"]) add_words(option, member, words);
}

void add_words(json& schema, const std::vector<std::string>& path, const char* member,
               const std::string& words) {
  auto* at = &schema;
  for (const auto& name : path) {
    auto& properties = (*at)["properties"];
    if (!properties.contains(name)) return;  // It is not listed.
    at = &properties[name];
  }
  add_words(*at, member, words);
}

}  // namespace

field_data& struct_kind::add(std::string name, value_kind_ptr kind,
                             std::function<void*(void*)> place) {
  for (const auto& field : fields_)
    if (field.name == name) throw std::logic_error("field \"" + name + "\" is described twice");
  auto& added = fields_.emplace_back();
  added.name = std::move(name);
  added.kind = std::move(kind);
  added.place = std::move(place);
  return added;
}

void struct_kind::add_rule(option_rule rule) {
  const auto& name = rule.path.front();
  if (!field_of(name))
    throw std::logic_error("rule for \"" + name + "\", which is no field described so far");
  rules_.push_back(std::move(rule));
}

void struct_kind::add_effect(option_effect effect) { effects_.push_back(std::move(effect)); }

const field_data* struct_kind::field_of(const std::string& name) const {
  const auto found = std::ranges::find(fields_, name, &field_data::name);
  return found == fields_.end() ? nullptr : &*found;
}

const std::string& struct_kind::name_at(const void* object, const void* place) const {
  for (const auto& field : fields_)
    if (field.place(const_cast<void*>(object)) == place) return field.name;
  throw std::logic_error("a rule is about a member that no field describes so far");
}

std::vector<option_effect> struct_kind::missing_effects(
    const void* object, const std::vector<std::string>& before) const {
  std::vector<option_effect> missing;
  for (const auto& field : fields_) {
    const auto* section = field.kind->fields();
    if (!section) continue;
    auto path = before;
    path.push_back(field.name);
    for (auto& effect : section->missing_effects(field.place(const_cast<void*>(object)), path))
      missing.push_back(std::move(effect));
  }
  for (auto effect : effects_) {
    if (effect.has_it && effect.has_it(object)) continue;
    effect.path.insert(effect.path.begin(), before.begin(), before.end());
    missing.push_back(std::move(effect));
  }
  return missing;
}

void struct_kind::read(const json& from, void* to, const std::string& pointer,
                       const value_limits&) const {
  if (!from.is_object()) {
    throw config_error(pointer, "expected an object, got " + show(from),
                       config_fault::not_an_object);
  }
  std::vector<std::string> known;
  for (const auto& field : fields_)
    if (field.listed) known.push_back(field.name);
  for (const auto& [key, value] : from.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    if (const auto now = new_name_of(key); !now.empty()) {
      const auto at = child_pointer(pointer, key);
      if (from.contains(now))
        throw config_error(at, "it was renamed to \"" + now + "\", which is given, too: expected " +
                                   "one of them, got the value " + show(value));
      log::warn("an option was renamed: its old name will be refused by the next version",
                {{"option", at}, {"now", now}});
      continue;
    }
    throw config_error(
        child_pointer(pointer, key),
        unknown_name_message("key", key, known, find_field(key)) + ", got the value " + show(value),
        config_fault::unknown_key);
  }
  for (const auto& field : fields_) {
    auto found = from.find(field.name);
    if (found == from.end() && !field.former.empty()) found = from.find(field.former);
    if (found != from.end())
      field.kind->read(*found, field.place(to), child_pointer(pointer, found.key()), field.limits);
  }
  check_rules(to, pointer);
}

std::string struct_kind::new_name_of(const std::string& former) const {
  for (const auto& field : fields_)
    if (field.listed && !former.empty() && field.former == former) return field.name;
  return {};
}

void struct_kind::check(const void* object, void* scratch, const std::string& pointer) const {
  for (const auto& field : fields_) {
    const void* place = field.place(const_cast<void*>(object));
    if (field.limits.infinity && field.kind->is_infinity(place)) continue;
    const auto at = child_pointer(pointer, field.name);
    json value;
    field.kind->write(place, value, at);
    field.kind->read(value, field.place(scratch), at, field.limits);
  }
  check_rules(object, pointer);
}

void struct_kind::check_rules(const void* object, const std::string& pointer) const {
  for (const auto& rule : rules_) {
    if (rule.holds(object)) continue;
    auto at = pointer;
    const auto* section = static_cast<const struct_kind*>(this);
    const field_data* blamed = nullptr;
    auto* place = const_cast<void*>(object);
    for (const auto& name : rule.path) {
      blamed = section->field_of(name);
      place = blamed->place(place);
      section = blamed->kind->fields();
      at = child_pointer(at, name);
    }
    json value;
    blamed->kind->write(place, value, at);
    throw config_error(at, "expected " + rule.expected(object) + ", got " + show(value));
  }
}

void struct_kind::write(const void* from, json& to, const std::string& pointer) const {
  to = json::object();
  for (const auto& field : fields_)
    if (field.listed)
      field.kind->write(field.place(const_cast<void*>(from)), to[field.name],
                        child_pointer(pointer, field.name));
}

std::string struct_kind::find_field(const std::string& name) const {
  for (const auto& field : fields_)
    if (field.listed && (field.name == name || field.former == name ||
                         std::ranges::find(field.aliases, name) != field.aliases.end()))
      return field.name;
  for (const auto& field : fields_)
    if (const auto inside = field.kind->find_field(name); !inside.empty())
      return field.name + '.' + inside;
  return {};
}

void struct_kind::describe(json& to, const value_limits&) const { describe_with(to, nullptr); }

void struct_kind::describe_with(json& to, const void* defaults) const {
  json values = json::object();
  if (defaults) write(defaults, values, "");
  to["type"] = "object";
  to["additionalProperties"] = false;
  auto& properties = to["properties"] = json::object();
  for (const auto& field : fields_) {
    if (!field.listed) continue;
    auto& property = properties[field.name] = json::object();
    field.kind->describe(property, field.limits);
    if (values.contains(field.name)) property["default"] = values[field.name];
    if (!field.unit.empty()) property["unit"] = field.unit;
    if (!field.help.empty()) property["description"] = field.help;
  }
  describe_rules(to);
}

void struct_kind::describe_rules(json& schema) const {
  for (const auto& effect : effects_)
    add_words(schema, effect.path, effect.has_it ? effect_if : no_effect, effect.words);
  for (const auto& rule : rules_)
    if (!rule.words.empty()) add_words(schema, rule.path, must_be, rule.words);
}

void add_sentences(json& schema) {
  if (!schema.is_structured()) return;
  for (auto& part : schema) add_sentences(part);
  if (!schema.is_object()) return;
  std::string text;
  const auto add = [&](const char* member, const std::string& first, const std::string& then) {
    std::string between = first;
    for (const auto& words : schema.value(member, json::array())) {
      text += between + words.get<std::string>();
      between = then;
    }
    if (between != first) text += '.';
    schema.erase(member);
  };
  if (schema.contains(no_effect)) schema.erase(effect_if);
  add(no_effect, " It has no effect, as ", " and ");
  add(effect_if, " It has an effect only if ", " and ");
  add(must_be, " It must be ", ". It must be ");
  if (text.empty()) return;
  const auto help = schema.value("description", std::string());
  schema["description"] = help.empty() ? text.substr(1) : help + text;
}

void struct_kind::check_defaults(const void* defaults, void* scratch, std::string_view type) const {
  try {
    check(defaults, scratch, "");
  } catch (const config_error& error) {
    throw std::logic_error("a default breaks its own description: " + std::string(error.what()) +
                           " (" + std::string(type) + ")");
  }
}

}  // namespace troupe::detail

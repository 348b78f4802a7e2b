#include "runtime/config/options_schema.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/base/log.hpp"
#include "runtime/config/config_error.hpp"
#include "runtime/config/json_text.hpp"
#include "runtime/config/nearest_name.hpp"

namespace troupe::detail {

using nlohmann::json;

field_schema::field_schema(std::string name, value_kind_ptr kind, std::function<void*(void*)> place)
    : name_(std::move(name)), kind_(std::move(kind)), place_(std::move(place)) {}

field_schema& field_schema::items(std::size_t min, std::size_t max) {
  limits_.items_min = min;
  limits_.items_max = max;
  return *this;
}

field_schema& field_schema::also_known_as(std::vector<std::string> names) {
  aliases_ = std::move(names);
  return *this;
}

field_schema& field_schema::one_of(std::vector<std::string> names) {
  limits_.one_of = std::move(names);
  return *this;
}

field_schema& struct_kind::add(std::string name, value_kind_ptr kind,
                               std::function<void*(void*)> place) {
  for (const auto& field : fields_)
    if (field.name_ == name) throw std::logic_error("field \"" + name + "\" is described twice");
  return fields_.emplace_back(std::move(name), std::move(kind), std::move(place));
}

void struct_kind::add_rule(field_rule rule) {
  if (std::none_of(fields_.begin(), fields_.end(),
                   [&](const field_schema& field) { return field.name_ == rule.name; }))
    throw std::logic_error("rule for \"" + rule.name + "\", which is no field described so far");
  rules_.push_back(std::move(rule));
}

void struct_kind::read(const json& from, void* to, const std::string& pointer,
                       const value_limits&) const {
  if (!from.is_object()) {
    throw config_error(pointer, "expected an object, got " + show(from),
                       config_fault::not_an_object);
  }
  std::vector<std::string> known;
  for (const auto& field : fields_)
    if (field.listed_) known.push_back(field.name_);
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
    auto found = from.find(field.name_);
    if (found == from.end() && !field.former_.empty()) found = from.find(field.former_);
    if (found != from.end())
      field.kind_->read(*found, field.place_(to), child_pointer(pointer, found.key()),
                        field.limits_);
  }
  check_rules(to, pointer);
}

std::string struct_kind::new_name_of(const std::string& former) const {
  for (const auto& field : fields_)
    if (field.listed_ && !former.empty() && field.former_ == former) return field.name_;
  return {};
}

void struct_kind::check(const void* object, void* scratch, const std::string& pointer) const {
  for (const auto& field : fields_) {
    const void* place = field.place_(const_cast<void*>(object));
    if (field.limits_.infinity && field.kind_->is_infinity(place)) continue;
    const auto at = child_pointer(pointer, field.name_);
    json value;
    field.kind_->write(place, value, at);
    field.kind_->read(value, field.place_(scratch), at, field.limits_);
  }
  check_rules(object, pointer);
}

void struct_kind::check_rules(const void* object, const std::string& pointer) const {
  for (const auto& rule : rules_) {
    if (rule.holds(object)) continue;
    const auto at = child_pointer(pointer, rule.name);
    const auto blamed = std::ranges::find(fields_, rule.name, &field_schema::name_);
    json value;
    blamed->kind_->write(blamed->place_(const_cast<void*>(object)), value, at);
    throw config_error(at, "expected " + rule.expected(object) + ", got " + show(value));
  }
}

void struct_kind::write(const void* from, json& to, const std::string& pointer) const {
  to = json::object();
  for (const auto& field : fields_)
    if (field.listed_)
      field.kind_->write(field.place_(const_cast<void*>(from)), to[field.name_],
                         child_pointer(pointer, field.name_));
}

std::string struct_kind::find_field(const std::string& name) const {
  for (const auto& field : fields_)
    if (field.listed_ && (field.name_ == name || field.former_ == name ||
                          std::ranges::find(field.aliases_, name) != field.aliases_.end()))
      return field.name_;
  for (const auto& field : fields_)
    if (const auto inside = field.kind_->find_field(name); !inside.empty())
      return field.name_ + '.' + inside;
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
    if (!field.listed_) continue;
    auto& property = properties[field.name_] = json::object();
    field.kind_->describe(property, field.limits_);
    if (values.contains(field.name_)) property["default"] = values[field.name_];
    if (!field.unit_.empty()) property["unit"] = field.unit_;
    if (!field.help_.empty()) property["description"] = field.help_;
  }
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

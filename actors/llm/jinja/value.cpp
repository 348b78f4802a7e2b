#include "actors/llm/jinja/value.hpp"

#include <algorithm>

namespace troupe::llm::jinja {
namespace {

/// Python's equality of two keys.
bool same_key(const value& a, const value& b) {
  if (a.as_text() && b.as_text()) return a.as_text()->chars == b.as_text()->chars;
  if (a.is_int() && b.is_int()) return a.integer() == b.integer();
  if (a.is_number() && b.is_number()) return a.real() == b.real();
  return a.is_none() && b.is_none();
}

}  // namespace

const value* dict::find(const value& key) const {
  const auto at =
      std::ranges::find_if(entries, [&](const auto& entry) { return same_key(entry.first, key); });
  return at == entries.end() ? nullptr : &at->second;
}

const value* dict::find(std::string_view key) const {
  for (const auto& [name, held] : entries)
    if (name.as_text() && name.as_text()->chars == key) return &held;
  return nullptr;
}

void dict::set(value key, value to) {
  depth = std::max(depth, to.depth() + 1);
  for (auto& [name, held] : entries) {
    if (!same_key(name, key)) continue;
    held = std::move(to);
    return;
  }
  entries.emplace_back(std::move(key), std::move(to));
}

list* value::as_list(list_kind kind) const {
  auto* all = as_list();
  return all && all->kind == kind ? all : nullptr;
}

std::int64_t value::integer() const {
  if (const auto* truth = std::get_if<bool>(&held_)) return *truth ? 1 : 0;
  return std::get<std::int64_t>(held_);
}

double value::real() const {
  return is_float() ? std::get<double>(held_) : static_cast<double>(integer());
}

std::string_view value::type() const {
  if (is_undefined()) return "undefined";
  if (is_none()) return "None";
  if (is_bool()) return "bool";
  if (is_int()) return "int";
  if (is_float()) return "float";
  if (as_text()) return "str";
  if (as_dict()) return "dict";
  if (const auto* all = as_list()) {
    constexpr std::string_view names[] = {"list",        "tuple",      "range",    "dict_keys",
                                          "dict_values", "dict_items", "generator"};
    return names[static_cast<int>(all->kind)];
  }
  if (as_namespace()) return "Namespace";
  if (as_macro()) return "Macro";
  if (as_loop()) return "LoopContext";
  return "function";
}

int value::depth() const {
  if (const auto* all = as_list()) return all->depth;
  if (const auto* all = as_dict()) return all->depth;
  return as_method() ? as_method()->of.depth() : 1;
}

bool value::truth() const {
  if (is_undefined() || is_none()) return false;
  if (is_int()) return integer() != 0;
  if (is_float()) return real() != 0;
  if (as_text()) return as_text()->size() > 0;
  if (as_dict()) return !as_dict()->entries.empty();
  if (const auto* all = as_list()) return all->kind == list_kind::generator || !all->items.empty();
  return true;
}

}  // namespace troupe::llm::jinja

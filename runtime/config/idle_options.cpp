#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/config/config.hpp"

namespace troupe {

namespace {

using nlohmann::json;
using names = std::vector<std::string>;

/// Calls `use` with the path and the value of each option that differs, sections apart.
template <class Use>
void for_each_difference(const json& asked, const json& usual, names& path, const Use& use) {
  if (asked == usual) return;
  if (!asked.is_object() || !usual.is_object() || usual.empty()) return use(path, asked);
  for (const auto& [name, value] : asked.items()) {
    path.push_back(name);
    for_each_difference(value, usual.value(name, json()), path, use);
    path.pop_back();
  }
}

/// Why the option at `path` has no effect, if some of these effects are its or its section's.
/// Empty if none is.
std::string why_idle(const names& path, const std::vector<detail::option_effect>& missing) {
  std::string conditions;
  for (const auto& effect : missing) {
    if (effect.path.size() > path.size()) continue;
    if (!std::equal(effect.path.begin(), effect.path.end(), path.begin())) continue;
    if (!effect.has_it) return effect.words;
    conditions += (conditions.empty() ? "it has an effect only if " : " and ") + effect.words;
  }
  return conditions;
}

std::string dotted(const names& path) {
  std::string text;
  for (const auto& name : path) text += (text.empty() ? "" : ".") + name;
  return text;
}

}  // namespace

std::vector<idle_option> detail::idle_options(const struct_kind& schema, const void* asked,
                                              const void* completed, const void* defaults) {
  const auto missing = schema.missing_effects(completed);
  json values, usual;
  schema.write(asked, values, "");
  schema.write(defaults, usual, "");
  std::vector<idle_option> idle;
  names at;
  for_each_difference(values, usual, at, [&](const names& path, const json& value) {
    auto why = why_idle(path, missing);
    if (!why.empty()) idle.push_back({dotted(path), value.dump(), std::move(why)});
  });
  return idle;
}

}  // namespace troupe

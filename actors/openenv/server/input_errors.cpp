#include "actors/openenv/server/input_errors.hpp"

#include <algorithm>

namespace troupe::openenv_server {

using nlohmann::json;

void input_errors::add(const char* type, place at, std::string message, const json& input,
                       json context) {
  if (list_.size() >= errors_max) return;
  json error{{"type", type}, {"loc", std::move(at)}, {"msg", std::move(message)}, {"input", input}};
  if (!context.is_null()) error["ctx"] = std::move(context);
  list_.push_back(std::move(error));
}

void input_errors::add_missing(place at, const char* key, const json& object) {
  add("missing", below(std::move(at), key), "Field required", object);
}

void input_errors::add_forbidden(place at, const std::string& key, const json& value) {
  add("extra_forbidden", below(std::move(at), key), "Extra inputs are not permitted", value);
}

void input_errors::forbid_others(const place& at, const json& object,
                                 std::initializer_list<const char*> known) {
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) == known.end()) add_forbidden(at, key, value);
  }
}

void input_errors::throw_if_any() const {
  if (!empty()) throw invalid_input(list_);
}

input_errors::place below(input_errors::place at, json key) {
  at.push_back(std::move(key));
  return at;
}

}  // namespace troupe::openenv_server

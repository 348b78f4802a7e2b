#include "actors/openenv/server/input_errors.hpp"

#include <algorithm>

namespace troupe::openenv_server {

using nlohmann::json;

namespace {

constexpr std::size_t shown_input_bytes = 2000;

/// Subtracts about the length of the value as text from `left`. Returns false once that is not
/// enough, without having looked at the rest.
bool fits(const json& value, std::size_t& left) {
  const auto take = [&](std::size_t bytes) {
    const bool enough = bytes <= left;
    left -= std::min(bytes, left);
    return enough;
  };
  if (value.is_string()) return take(value.get_ref<const std::string&>().size() + 2);
  if (!value.is_structured()) return take(8);
  if (!take(2)) return false;
  for (const auto& [key, each] : value.items()) {
    if (value.is_object() && !take(key.size() + 3)) return false;
    if (!fits(each, left)) return false;
  }
  return true;
}

/// Returns the input as an error shows it: as it is, unless it is so long that its copies in the
/// errors of one message would take much more memory than the message.
json shown(const json& input) {
  auto left = shown_input_bytes;
  if (fits(input, left)) return input;
  return "(left out, as it has more than " + std::to_string(shown_input_bytes) + " bytes)";
}

}  // namespace

void input_errors::add(const char* type, place at, std::string message, const json& input,
                       json context) {
  if (list_.size() >= errors_max) return;
  json error{
      {"type", type}, {"loc", std::move(at)}, {"msg", std::move(message)}, {"input", shown(input)}};
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

#include "actors/openenv/server/requests.hpp"

#include <fmt/format.h>

#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "actors/openenv/server/input_numbers.hpp"
#include "actors/openenv/server/space_json.hpp"

namespace troupe::openenv_server {

namespace {

using nlohmann::json;

constexpr std::size_t episode_id_bytes_max = 255;

/// Returns the value of a key, or null if it is missing or null.
const json* find_value(const json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

std::optional<std::string> read_episode_id(const json& value, const input_errors::place& at,
                                           input_errors& errors) {
  if (!value.is_string()) {
    errors.add("string_type", at, "Input should be a valid string", value);
    return {};
  }
  auto id = value.get<std::string>();
  if (id.size() <= episode_id_bytes_max) return id;
  errors.add("string_too_long", at,
             fmt::format("String should have at most {} characters", episode_id_bytes_max), value,
             {{"max_length", episode_id_bytes_max}});
  return {};
}

}  // namespace

reset_request read_reset(const json& data, const input_errors::place& at) {
  reset_request read;
  input_errors errors;
  if (const auto* seed = find_value(data, "seed")) {
    if (seed->is_number_unsigned())
      read.seed = seed->get<std::uint64_t>();
    else
      read.seed = read_integer(*seed, 0, std::numeric_limits<std::int64_t>::max(),
                               below(at, "seed"), errors);
  }
  if (const auto* id = find_value(data, "episode_id"))
    read.episode_id = read_episode_id(*id, below(at, "episode_id"), errors);
  errors.throw_if_any();
  return read;
}

void append_result(const space& observations, const played_environment::view& seen,
                   std::string& to) {
  const auto fact = [&](bool held) { to += held ? "true" : "false"; };
  to += R"({"observation":{"obs":)";
  append_json(observations, seen.obs, to);
  to += R"(,"terminated":)";
  fact(seen.terminated);
  to += R"(,"truncated":)";
  fact(seen.truncated);
  to += R"(},"reward":)";
  if (seen.reward)
    append_json(*seen.reward, to);
  else
    to += "null";
  to += R"(,"done":)";
  fact(seen.done());
  to += '}';
}

json observation_schema(const space& observations) {
  const json fact{{"type", "boolean"}};
  const json nothing{{"type", "null"}};
  const json number{{"type", "number"}};
  return {{"title", "Observation"},
          {"description", "obs: an element of " + to_string(observations) +
                              ". terminated: the task itself ended. truncated: the episode was "
                              "cut, by a time limit or otherwise. done: either of them."},
          {"type", "object"},
          {"properties",
           {{"obs", json_schema(observations)},
            {"terminated", fact},
            {"truncated", fact},
            {"reward", {{"anyOf", {number, nothing}}, {"default", nullptr}}},
            {"done", {{"type", "boolean"}, {"default", false}}}}},
          {"required", {"obs", "terminated", "truncated"}},
          {"additionalProperties", false}};
}

void append_state(const std::optional<std::string>& episode_id, std::int64_t steps,
                  std::string& to) {
  fmt::format_to(std::back_inserter(to), R"({{"episode_id":{},"step_count":{}}})",
                 episode_id ? to_text(*episode_id) : "null", steps);
}

json state_schema() {
  const json text{{"type", "string"}};
  const json nothing{{"type", "null"}};
  return {{"title", "State"},
          {"type", "object"},
          {"properties",
           {{"episode_id", {{"anyOf", {text, nothing}}, {"default", nullptr}}},
            {"step_count", {{"type", "integer"}, {"minimum", 0}, {"default", 0}}}}},
          {"additionalProperties", true}};
}

std::string to_text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace troupe::openenv_server

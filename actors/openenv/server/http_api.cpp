#include "actors/openenv/server/http_api.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "actors/openenv/protocol/protocol.hpp"
#include "actors/openenv/server/action_reader.hpp"
#include "actors/openenv/server/input_numbers.hpp"
#include "actors/openenv/server/json_rpc.hpp"
#include "actors/openenv/server/requests.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/random_bits.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::openenv_server {

using namespace openenv;  // the messages of clients and servers

namespace {

using nlohmann::json;

const json at_body{"body"};

/// The method of each route.
const std::map<std::string_view, std::string_view> routes{
    {"/health", "GET"}, {"/metadata", "GET"}, {"/schema", "GET"}, {"/openapi.json", "GET"},
    {"/state", "GET"},  {"/reset", "POST"},   {"/step", "POST"},  {"/mcp", "POST"}};

http_reply detail_reply(unsigned status, json detail) {
  return {.status = status, .body = to_text({{"detail", std::move(detail)}})};
}

bool is_json(std::string_view content_type) {
  const auto type = content_type.substr(0, content_type.find(';'));
  return type.empty() || type == "application/json" ||
         (type.starts_with("application/") && type.ends_with("+json"));
}

/// Returns the body as a JSON object. With `may_be_empty` an empty body counts as {}. Throws
/// invalid_input.
json read_body(const http_question& asked, bool may_be_empty) {
  if (asked.body.empty() && may_be_empty) return json::object();
  input_errors errors;
  if (asked.body.empty()) {
    errors.add("missing", at_body, "Field required", nullptr);
  } else if (!is_json(asked.content_type)) {
    errors.add("model_attributes_type", at_body,
               "Input should be a valid dictionary or object to extract fields from",
               troupe::detail::printable(asked.body, 1000));
  }
  errors.throw_if_any();
  json read;
  try {
    read = parse_text(asked.body, request_bytes_max);
  } catch (const bad_text& e) {
    errors.add("json_invalid", at_body, "JSON decode error", json::object(), {{"error", e.what()}});
  }
  errors.throw_if_any();
  if (!read.is_object())
    errors.add("model_attributes_type", at_body,
               "Input should be a valid dictionary or object to extract fields from", read);
  errors.throw_if_any();
  return read;
}

/// Returns the action in a step's body. Throws invalid_input.
json take_action(json& body) {
  input_errors errors;
  if (const auto limit = body.find("timeout_s"); limit != body.end() && !limit->is_null()) {
    const auto at = below(at_body, "timeout_s");
    const auto seconds = read_float(*limit, at, errors);
    if (seconds && *seconds <= 0)
      errors.add("greater_than", at, "Input should be greater than 0", *limit, {{"gt", 0.0}});
  }
  const auto action = body.find("action");
  if (action == body.end()) {
    errors.add_missing(at_body, "action", body);
  } else if (!action->is_object()) {
    errors.add("dict_type", below(at_body, "action"), "Input should be a valid dictionary",
               *action);
  }
  errors.throw_if_any();
  return std::move(*action);
}

}  // namespace

http_api::http_api(environment_maker make) : make_(std::move(make)) {
  played_environment one(make_());
  const auto spec = one.spec();
  id_ = spec.id;
  metadata_ = to_text({{"name", id_},
                       {"description", id_ + ", served by Troupe. Observations: " +
                                           to_string(spec.observation_space) +
                                           ", actions: " + to_string(spec.action_space) + "."},
                       {"readme_content", nullptr},
                       {"version", "1.0.0"},
                       {"author", nullptr},
                       {"documentation_url", nullptr}});
  schema_ = to_text({{"action", action_reader(spec.action_space).schema()},
                     {"observation", observation_schema(spec.observation_space)},
                     {"state", state_schema()}});
}

http_reply http_api::refuse(unsigned status, const std::string& why) {
  return detail_reply(status, why);
}

bool http_api::asks_environment(const http_question& asked) {
  return asked.method == "POST" && (asked.path == "/reset" || asked.path == "/step");
}

http_reply http_api::answer(const http_question& asked, bool is_draining) const {
  const auto route = routes.find(asked.path);
  if (route == routes.end()) return detail_reply(404, "Not Found");
  if (asked.method != route->second) {
    auto refusal = detail_reply(405, "Method Not Allowed");
    refusal.allow = route->second;
    return refusal;
  }
  if (asked.path == "/health" && is_draining) return {503, R"({"status":"unhealthy"})"};
  if (asked.path == "/health") return {200, R"({"status":"healthy"})"};
  if (asked.path == "/metadata") return {200, metadata_};
  if (asked.path == "/schema") return {200, schema_};
  if (asked.path == "/openapi.json") return {200, openapi_document};
  if (asked.path == "/mcp") return {200, to_text(answer_rpc_text(asked.body))};
  if (asked.path == "/state") {
    http_reply made;
    append_state(troupe::detail::random_uuid(), 0, made.body);
    return made;
  }
  try {
    return answer_post(asked);
  } catch (const invalid_input& e) {
    return detail_reply(422, e.errors());
  } catch (const std::exception& e) {
    log::warn("an OpenEnv request failed", {{"path", asked.path}, {"error", e.what()}});
    return {500, "Internal Server Error", "text/plain; charset=utf-8"};
  }
}

http_reply http_api::answer_post(const http_question& asked) const {
  const bool is_reset = asked.path == "/reset";
  auto body = read_body(asked, is_reset);
  const auto wanted = is_reset ? read_reset(body, at_body) : reset_request{};
  const auto action = is_reset ? json() : take_action(body);

  played_environment one(make_());
  const auto spec = one.spec();
  env_actions read;
  if (!is_reset) action_reader(spec.action_space).read(action, json::array(), read);
  auto seen = one.reset(wanted.seed);
  if (!is_reset) seen = one.step(read);
  http_reply made;
  append_result(spec.observation_space, seen, made.body);
  return made;
}

}  // namespace troupe::openenv_server

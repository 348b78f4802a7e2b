#include "actors/openenv/server/json_rpc.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "actors/openenv/protocol/protocol.hpp"
#include "actors/openenv/server/input_errors.hpp"
#include "actors/openenv/server/requests.hpp"

namespace troupe::openenv_server {

using namespace openenv;  // the messages of clients and servers

namespace {

using nlohmann::json;

/// Adds the errors that make `request`, which is an object, invalid.
void check(const json& request, input_errors& errors) {
  const json here = json::array();
  if (!request.contains("jsonrpc")) {
    errors.add_missing(here, "jsonrpc", request);
  } else if (request["jsonrpc"] != "2.0") {
    errors.add("literal_error", {"jsonrpc"}, "Input should be '2.0'", request["jsonrpc"]);
  }
  if (!request.contains("method")) {
    errors.add_missing(here, "method", request);
  } else if (!request["method"].is_string()) {
    errors.add("string_type", {"method"}, "Input should be a valid string", request["method"]);
  }
  if (request.contains("params") && !request["params"].is_object())
    errors.add("dict_type", {"params"}, "Input should be a valid dictionary", request["params"]);
  const auto id = request.find("id");
  if (id != request.end() && !id->is_null() && !id->is_string() && !id->is_number_integer())
    errors.add("string_type", {"id"}, "Input should be a valid string or integer", *id);
  errors.forbid_others(here, request, {"jsonrpc", "method", "params", "id"});
}

std::string describe(const json& errors) {
  auto text = "Invalid request: " + std::to_string(errors.size()) + " validation error" +
              (errors.size() == 1 ? "" : "s") + " for JsonRpcRequest";
  for (const auto& error : errors) {
    text += '\n' + error["loc"][0].get<std::string>() + "\n  " + error["msg"].get<std::string>() +
            " [type=" + error["type"].get<std::string>() + ']';
  }
  return text;
}

/// Returns the parts of a request that `check` has found valid.
rpc_request parts_of(const json& request) {
  rpc_request read{.id = request.value("id", json()),
                   .method = request["method"].get<std::string>(),
                   .params = request.value("params", json::object()),
                   .session_id = ""};
  const auto session = read.params.find("session_id");
  if (session != read.params.end() && !session->is_null())
    read.session_id = session->is_string() ? session->get<std::string>() : to_text(*session);
  return read;
}

}  // namespace

std::optional<rpc_request> read_rpc(std::string_view text) {
  json request;
  try {
    request = parse_text(text, request_bytes_max);
  } catch (const bad_text&) {
    return {};
  }
  if (!request.is_object()) return {};
  input_errors errors;
  check(request, errors);
  if (!errors.empty()) return {};
  return parts_of(request);
}

json rpc_result(json result, json id) {
  return {{"jsonrpc", "2.0"}, {"id", std::move(id)}, {"result", std::move(result)}};
}

json rpc_error(int code, std::string message, json id, json data) {
  return {{"jsonrpc", "2.0"},
          {"id", std::move(id)},
          {"error", {{"code", code}, {"message", std::move(message)}, {"data", std::move(data)}}}};
}

json answer_rpc(const json& request, const std::string& session_id) {
  if (!request.is_object())
    return rpc_error(rpc_invalid_request, "Invalid request: expected an object");
  input_errors errors;
  check(request, errors);
  if (!errors.empty()) return rpc_error(rpc_invalid_request, describe(errors.list()));

  const auto asked = parts_of(request);
  const auto& id = asked.id;
  if (asked.method == "openenv/session/create" && !session_id.empty())
    return rpc_result({{"session_id", session_id}}, id);
  if (asked.method == "openenv/session/close") {
    if (asked.session_id.empty())
      return rpc_error(rpc_invalid_params, "Invalid params - 'session_id' is required", id);
    if (asked.session_id == session_id)
      return rpc_error(rpc_invalid_request,
                       "Cannot close active WebSocket-managed session via MCP method", id);
    return rpc_error(rpc_invalid_params, "Unknown session_id: " + asked.session_id, id);
  }
  if (asked.method == "tools/call" && !asked.params.contains("name"))
    return rpc_error(rpc_invalid_params, "Missing 'name' in params", id);
  if (asked.method == "tools/list" || asked.method == "tools/call")
    return rpc_error(rpc_internal_error, "Environment does not support MCP", id);
  return rpc_error(rpc_method_not_found, "Method not found: " + asked.method, id);
}

json answer_rpc_text(std::string_view text, const std::string& session_id) {
  try {
    return answer_rpc(parse_text(text, request_bytes_max), session_id);
  } catch (const bad_text& e) {
    return rpc_error(rpc_parse_error, std::string("Parse error: ") + e.what());
  }
}

}  // namespace troupe::openenv_server

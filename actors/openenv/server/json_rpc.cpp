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

// The codes are those of https://www.jsonrpc.org/specification#error_object.
constexpr int parse_error = -32700;
constexpr int invalid_request = -32600;
constexpr int method_not_found = -32601;
constexpr int invalid_params = -32602;
constexpr int internal_error = -32603;

json error_response(int code, std::string message, json id = nullptr) {
  return {{"jsonrpc", "2.0"},
          {"id", std::move(id)},
          {"error", {{"code", code}, {"message", std::move(message)}, {"data", nullptr}}}};
}

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

}  // namespace

json answer_rpc(const json& request) {
  if (!request.is_object())
    return error_response(invalid_request, "Invalid request: expected an object");
  input_errors errors;
  check(request, errors);
  if (!errors.empty()) return error_response(invalid_request, describe(errors.list()));

  const auto id = request.value("id", json());
  const auto method = request["method"].get<std::string>();
  const auto params = request.value("params", json::object());
  if (method == "tools/call" && !params.contains("name"))
    return error_response(invalid_params, "Missing 'name' in params", id);
  if (method == "openenv/session/close") {
    const auto session = params.find("session_id");
    if (session == params.end())
      return error_response(invalid_params, "Invalid params - 'session_id' is required", id);
    return error_response(invalid_params, "Unknown session_id: " + to_text(*session), id);
  }
  if (method == "tools/list" || method == "tools/call" || method == "openenv/session/create")
    return error_response(internal_error, "Environment does not support MCP", id);
  return error_response(method_not_found, "Method not found: " + method, id);
}

json answer_rpc_text(std::string_view text) {
  try {
    return answer_rpc(parse_text(text, request_bytes_max));
  } catch (const bad_text& e) {
    return error_response(parse_error, std::string("Parse error: ") + e.what());
  }
}

}  // namespace troupe::openenv_server

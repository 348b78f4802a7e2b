#pragma once
// OpenEnv's JSON-RPC 2.0 interface for tools.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::openenv_server {

// The interface is used by POST /mcp, by the WebSocket /mcp and by "mcp" messages. Troupe's
// environments have no tools, so tools/list and tools/call are answered as OpenEnv's servers do for
// such environments. named_sessions answers the requests of HTTP that concern sessions.

// The codes are those of https://www.jsonrpc.org/specification#error_object.
inline constexpr int rpc_parse_error = -32700;
inline constexpr int rpc_invalid_request = -32600;
inline constexpr int rpc_method_not_found = -32601;
inline constexpr int rpc_invalid_params = -32602;
inline constexpr int rpc_internal_error = -32603;
inline constexpr int rpc_server_error = -32000;

/// A valid request.
struct rpc_request {
  nlohmann::json id;
  std::string method;
  nlohmann::json params;
  std::string session_id;  ///< That of the parameters, as text; empty if there is none.
};
/// Reads a request; nullopt for an invalid one.
std::optional<rpc_request> read_rpc(std::string_view text);

nlohmann::json rpc_result(nlohmann::json result, nlohmann::json id);
nlohmann::json rpc_error(int code, std::string message, nlohmann::json id = nullptr,
                         nlohmann::json data = nullptr);

/// Returns the answer to any request, valid or not, in the WebSocket session of that id. An empty
/// id stands for a request of HTTP.
nlohmann::json answer_rpc(const nlohmann::json& request, const std::string& session_id);
/// Returns the answer to a request as text, which may be invalid JSON.
nlohmann::json answer_rpc_text(std::string_view text, const std::string& session_id = "");

}  // namespace troupe::openenv_server

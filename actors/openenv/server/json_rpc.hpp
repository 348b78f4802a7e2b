#pragma once
// OpenEnv's JSON-RPC 2.0 interface for tools.

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace troupe::openenv_server {

// The interface is used by POST /mcp, by the WebSocket /mcp and by "mcp" messages. Troupe's
// environments have no tools, so tools/list and tools/call are answered as OpenEnv's servers do for
// such environments, and no session is made for them.

/// Returns the answer to any request, valid or not.
nlohmann::json answer_rpc(const nlohmann::json& request);
/// Returns the answer to a request as text, which may be invalid JSON.
nlohmann::json answer_rpc_text(std::string_view text);

}  // namespace troupe::openenv_server

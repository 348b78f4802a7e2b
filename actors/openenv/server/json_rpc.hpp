#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace troupe::openenv_server {

// OpenEnv's JSON-RPC 2.0 surface for tools, of POST /mcp, of the WebSocket /mcp and of "mcp"
// messages. Troupe's environments have no tools: tools/list and tools/call are answered as
// OpenEnv's servers do for such environments, and no session is made for calling none.

/// The answer to a request, whatever it is.
nlohmann::json answer_rpc(const nlohmann::json& request);
/// The same for a request as text, which may be no JSON.
nlohmann::json answer_rpc_text(std::string_view text);

}  // namespace troupe::openenv_server

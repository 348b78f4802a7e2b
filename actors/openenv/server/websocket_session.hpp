#pragma once
// Internal to this folder: the session of one WebSocket client.

#include "actors/openenv/server/beast_names.hpp"
#include "actors/openenv/server/hub.hpp"

namespace troupe::openenv_server {

/// Accepts the WebSocket that the client asks for in `request`, and begins a session with an
/// environment of its own, or one of JSON-RPC. With "session_id" in the query it plays in the
/// session that HTTP has made. If the server is full or the environment can't be made, the first
/// message says so, as with OpenEnv's servers.
void begin_session(hub& of, tcp_socket socket, const http_request& request, bool is_rpc);

}  // namespace troupe::openenv_server

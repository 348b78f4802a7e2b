#pragma once

#include "actors/openenv/server/beast_names.hpp"
#include "actors/openenv/server/hub.hpp"

namespace troupe::openenv_server {

/// Goes over to a WebSocket, as the client has asked by `request`: a session of its own, with an
/// environment, or one of JSON-RPC. Where the server is full, or the environment can't be made, the
/// client is told so by the first message, as OpenEnv's servers do.
void begin_session(hub& of, tcp_socket socket, const http_request& request, bool is_rpc);

}  // namespace troupe::openenv_server

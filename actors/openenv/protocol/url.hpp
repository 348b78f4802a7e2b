#pragma once
// The addresses of OpenEnv servers.

#include <string>

namespace troupe::openenv {

/// The address of a server.
struct server_url {
  std::string text;  ///< For people: "http://localhost:8000/games", without a last "/".
  bool tls = false;
  std::string host;  ///< Without the brackets of an IPv6 address.
  std::string port;
  std::string path;  ///< The part before "/ws" or "/reset": empty, or "/games".

  /// Returns the text of the Host header.
  std::string authority() const;
};

/// Parses an address like the Python client: http, https, ws and wss, or a bare host. A "/" at the
/// end is ignored. Throws std::invalid_argument.
server_url parse_url(const std::string& text);

}  // namespace troupe::openenv

#pragma once

#include <string>

namespace troupe::openenv {

/// Where a server is.
struct server_url {
  std::string text;  ///< As a person reads it: "http://localhost:8000/games", without a last "/".
  bool tls = false;
  std::string host;  ///< Without the brackets of an IPv6 address.
  std::string port;
  std::string path;  ///< Before "/ws" or "/reset": empty, or "/games".

  /// For the Host header.
  std::string authority() const;
};

/// As the Python client reads one: http, https, ws and wss, or a bare host; "/" at the end does not
/// count. Throws std::invalid_argument.
server_url parse_url(const std::string& text);

}  // namespace troupe::openenv

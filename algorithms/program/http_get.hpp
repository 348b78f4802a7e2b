#pragma once
// An HTTP GET with a time limit, for `troupe status` and `troupe health`.

#include <chrono>
#include <cstdint>
#include <string>

namespace troupe::command {

/// The answer of an HTTP server.
struct http_answer {
  unsigned status = 0;  ///< The HTTP status code.
  std::string body;     ///< At most 8 MiB.

  /// Returns the first line of the body for a message. It is printable and has at most about 200
  /// bytes.
  std::string first_line() const;
};

/// Sends GET `target`, such as "/readyz", to a port of a host, which is a name or an IP address
/// without brackets. The addresses of a name are tried in turn. Throws std::runtime_error with the
/// URL if there is no such host, or if no complete answer comes within `limit`, which counts from
/// the lookup of the name.
http_answer http_get(const std::string& host, std::uint16_t port, const std::string& target,
                     std::chrono::milliseconds limit);

}  // namespace troupe::command

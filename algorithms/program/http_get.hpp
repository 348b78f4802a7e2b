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
};

/// Sends GET `target`, such as "/readyz", to the IPv4 or IPv6 address and port. Throws
/// std::runtime_error with the URL if no complete answer comes within `limit`.
http_answer http_get(const std::string& address, std::uint16_t port, const std::string& target,
                     std::chrono::milliseconds limit);

}  // namespace troupe::command

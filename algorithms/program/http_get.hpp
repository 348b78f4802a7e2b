#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace troupe::command {

/// What an HTTP server said.
struct http_answer {
  unsigned status = 0;  ///< The HTTP status code.
  std::string body;     ///< At most 8 MiB.
};

/// Asks the server at `port` of `address`, an IPv4 or IPv6 address, for `target`, such as
/// "/readyz". Throws std::runtime_error that names the URL where no whole answer came within
/// `limit`.
http_answer http_get(const std::string& address, std::uint16_t port, const std::string& target,
                     std::chrono::milliseconds limit);

}  // namespace troupe::command

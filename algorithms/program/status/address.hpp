#pragma once
// Addresses of running programs, as `troupe status` takes them.

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::command {

/// The address at which a program serves its metrics.
struct program_address {
  std::string host;  ///< A name or an IP address. An IPv6 address has no brackets.
  std::uint16_t port = 0;
  std::string text() const;  ///< "localhost:9464", "[::1]:9464"
};

/// Parses an address such as "localhost", "10.0.0.7:9465", "[::1]:9464" or
/// "http://gpu-1:9464/metrics". Throws std::invalid_argument for a malformed one.
program_address parse_address(std::string_view text, std::uint16_t default_port);

}  // namespace troupe::command

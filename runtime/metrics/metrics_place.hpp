#pragma once
// The address and port of a program's metrics.

#include <string>
#include <vector>

namespace troupe {

/// The address and port at which a program serves its metrics.
struct metrics_place {
  static constexpr int usual_port = 9464;
  /// How many ports after a busy one are tried if the user named none.
  static constexpr int next_ports_max = 100;

  std::string address = "127.0.0.1";  ///< IPv4 or IPv6; 0.0.0.0 means every interface.
  int port = usual_port;              ///< 0 means that no metrics are served.
  /// True if the user named the port, so that no other port may be used.
  bool port_asked = false;
  /// Further names by which the server may be asked (detail::own_hosts), such as that of a proxy.
  std::vector<std::string> allowed_hosts = {};
};

}  // namespace troupe

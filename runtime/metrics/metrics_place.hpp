#pragma once

#include <string>

namespace troupe {

/// Where a program serves its metrics.
struct metrics_place {
  static constexpr int usual_port = 9464;

  std::string address = "127.0.0.1";  ///< IPv4 or IPv6; 0.0.0.0: every interface.
  int port = usual_port;              ///< 0: nowhere.
  bool port_asked = false;            ///< Somebody named the port, so no other will do.
};

}  // namespace troupe

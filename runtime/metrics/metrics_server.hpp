#pragma once
// The HTTP server that Prometheus, an orchestrator's probes and a browser query.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/metrics/metrics_place.hpp"

namespace troupe {

class metrics_registry;

/// Reports an address or a further name of the metrics that is none.
class metrics_place_error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Thrown if the requested port is in use. A program that gets it ends with exit code 2.
class port_busy : public std::runtime_error {
 public:
  port_busy(const std::string& address, std::uint16_t port);
  std::uint16_t port() const noexcept { return port_; }

 private:
  std::uint16_t port_;
};

struct metrics_server_options {
  std::string address = "127.0.0.1";               ///< IPv4 or IPv6; 0.0.0.0 means every interface.
  std::uint16_t port = metrics_place::usual_port;  ///< 0 means any free port.
  /// True if the next free port, at most 100 higher, may be taken when `port` is busy. It is meant
  /// for default ports, not for ports that a user named.
  bool next_free = false;
  /// Decides whether /livez answers 200 or 503; null means 200. The server's thread calls it.
  std::function<bool()> is_live = {};
  /// Decides whether /readyz answers 200 or 503; null means 200. The server's thread calls it.
  std::function<bool()> is_ready = {};
  /// The time from connecting, or from the first byte of a later request, to its last header.
  std::chrono::milliseconds header_timeout{5000};
  /// The time between two requests of a connection.
  std::chrono::milliseconds idle_timeout{30000};
  /// The number of connections that may be open at once. There are at most an eighth of the
  /// descriptors that this process may open (ulimit -n), but four in any case.
  std::size_t connections_max = 64;
  /// Further names by which the server may be asked; see metrics_place::allowed_hosts.
  std::vector<std::string> allowed_hosts = {};
};

/// Serves GET and HEAD of /metrics, /livez, /readyz, / (a page that shows the metrics live) and
/// /boards (the boards of metrics_registry::show for this page), from a thread of its own. No
/// connection waits for another one, and probes don't wait for scrapes, which a second thread
/// makes, one at a time. When `connections_max` connections are open, a new one replaces the one
/// whose client has let the server wait for longest, be it for a request or for taking an answer.
/// If the server waits for none, it replaces the one that has waited for longest. So there is
/// always a place for a probe. A request whose Host does not name this server (detail::own_hosts)
/// is answered with status 400.
class metrics_server {
 public:
  /// `registry` must outlive the server. Throws port_busy if the port is in use,
  /// metrics_place_error if the address or a name is malformed, and std::runtime_error naming
  /// address and port for any other reason why it can't listen.
  metrics_server(const metrics_registry& registry, metrics_server_options options = {});
  /// Closes every connection and joins the thread. It doesn't wait for clients.
  ~metrics_server();
  metrics_server(const metrics_server&) = delete;
  metrics_server& operator=(const metrics_server&) = delete;

  /// The port that the server listens on.
  std::uint16_t port() const;
  /// The URL of the page for the user of this process. It has a random token, and only with it does
  /// the page show the boards of board_readers::user. Whoever knows it sees them.
  std::string page() const;

 private:
  class listener;
  std::unique_ptr<listener> listener_;
};

}  // namespace troupe

#pragma once
// The endpoint that Prometheus, an orchestrator and a browser look at.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "runtime/metrics/metrics_place.hpp"

namespace troupe {

class metrics_registry;

/// A port that was asked for is in use. A program ends with exit code 2.
class port_busy : public std::runtime_error {
 public:
  port_busy(const std::string& address, std::uint16_t port);
  std::uint16_t port() const noexcept { return port_; }

 private:
  std::uint16_t port_;
};

struct metrics_server_options {
  std::string address = "127.0.0.1";               ///< IPv4 or IPv6; 0.0.0.0: every interface.
  std::uint16_t port = metrics_place::usual_port;  ///< 0: any free one.
  /// Whether the next free port, at most 100 further, is taken where `port` is busy. For a port
  /// that nobody asked for.
  bool next_free = false;
  std::function<bool()> is_live;   ///< /livez: 200 or 503. Called by the server's thread.
  std::function<bool()> is_ready;  ///< /readyz: the same.
  std::chrono::milliseconds header_timeout{5000};  ///< From connecting to a request's last header.
  std::chrono::milliseconds idle_timeout{30000};   ///< Between two requests of a connection.
  std::size_t connections_max = 64;
};

/// Serves GET and HEAD of /metrics, /livez, /readyz, / (a page that shows the metrics live) and
/// /boards (what metrics_registry::show has for it), from a thread of its own. One connection never
/// waits for another: when `connections_max` are open, a new one takes the place of the one that
/// has kept its request back for longest, or is closed at once if there is none.
class metrics_server {
 public:
  /// `registry` must outlive the server. Throws port_busy, std::invalid_argument for what is no
  /// address, and std::runtime_error naming address and port for what else keeps it from opening.
  metrics_server(const metrics_registry& registry, metrics_server_options options = {});
  /// Closes every connection and joins the thread; waits for no client.
  ~metrics_server();
  metrics_server(const metrics_server&) = delete;
  metrics_server& operator=(const metrics_server&) = delete;

  /// The port it listens on.
  std::uint16_t port() const;

 private:
  class listener;
  std::unique_ptr<listener> listener_;
};

}  // namespace troupe

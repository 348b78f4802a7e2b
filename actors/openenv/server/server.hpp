#pragma once
// Troupe's environments for every OpenEnv client: a WebSocket is a session with an environment of
// its own.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/openenv/server/http_api.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe::openenv_server {

struct server_options {
  std::string address = "127.0.0.1";  ///< IPv4 or IPv6.
  std::uint16_t port = 8000;          ///< 0: any free one.
  /// Origins of other servers' pages that may use it, such as "https://games.example"; "*": all.
  std::vector<std::string> allowed_origins;
  std::size_t sessions_max = 1024;
  std::size_t connections_max = 128;  ///< That are no session, such as those of HTTP.
  std::size_t threads = 32;           ///< For slow environments: how many are stepped at once.
  /// Of a message or a body. A longer one closes the connection.
  std::size_t message_bytes_max = std::size_t{1} << 20;
  /// From connecting, or from an answer's end, to a request's last byte.
  std::chrono::milliseconds request_timeout{15'000};
  std::chrono::milliseconds write_timeout{60'000};  ///< For a client to take an answer.
  /// A client that was not heard of for so long is sent a ping...
  std::chrono::milliseconds ping_interval{20'000};
  std::chrono::milliseconds ping_timeout{20'000};  ///< ...and has so long to answer it.
  /// A session without a request for so long is closed. Language models think for minutes.
  std::chrono::milliseconds idle_timeout{3'600'000};
};

/// Serves the environments that `make` makes, from a thread of its own, and slow ones from a few
/// more, so that none waits for another. Counts in troupe_openenv_server_* of `metrics`.
class server {
 public:
  /// Throws port_busy, std::invalid_argument for what is no address or no origin and for
  /// environments that no session can have, and std::runtime_error naming address and port for what
  /// else keeps it from opening. `metrics` must outlive the server.
  server(environment_maker make, server_options options, metrics_registry& metrics);
  /// Closes every connection. Waits for the steps under way and for no client.
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// The port it listens on.
  std::uint16_t port() const;

  bool is_draining() const;
  /// Takes no session more, says it is unhealthy, lets sessions end for at most `grace`, and closes
  /// those that are left with code 1001. Returns when all are closed. Any thread, once.
  void drain(std::chrono::milliseconds grace);

 private:
  class house;
  std::unique_ptr<house> house_;
};

}  // namespace troupe::openenv_server

#pragma once
// The server of `troupe serve-env`: it serves Troupe's environments to every OpenEnv client. A
// WebSocket is a session with an environment of its own.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/openenv/server/http_api.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe::openenv_server {

/// The address and the limits of a server.
struct server_options {
  std::string address = "127.0.0.1";  ///< The IPv4 or IPv6 address to listen at.
  std::uint16_t port = 8000;          ///< The port; 0 means any free one.
  /// The origins whose pages may use the server, such as "https://games.example". "*" allows all.
  /// By default only the server's own origin may.
  std::vector<std::string> allowed_origins = {};
  /// Further names by which the server may be asked; see troupe::detail::own_hosts.
  std::vector<std::string> allowed_hosts = {};
  std::size_t sessions_max = 1024;  ///< The largest number of open sessions.
  /// The largest number of other connections: those that don't have their session yet, and HTTP. At
  /// the limit, one that has sent no whole request is dropped for the next one, the oldest first.
  /// If there is none, the next one is answered with status 503.
  std::size_t connections_max = 1024;
  /// Lets the thread that reads and writes make, reset and step the environments while that takes
  /// less than a millisecond, which costs less than to hand each call to another thread. Set it
  /// only where every call is known to return, as with Troupe's own environments: one that hangs
  /// would hold up every client.
  bool inline_steps = false;
  /// The threads that step the environments that are not stepped inline.
  std::size_t threads = 32;
  /// A call of an environment that takes longer than this hangs: one more thread takes the place of
  /// its own until it returns. Its session has its slot as long.
  std::chrono::milliseconds hang_timeout{90'000};
  /// The longest message or body in bytes. A longer one closes the connection.
  std::size_t message_bytes_max = std::size_t{1} << 20;
  /// The memory in bytes that the messages of all clients take together: while they come, wait and
  /// are answered, and their answers. What it would exceed ends a connection: the one that holds
  /// most, or the one that asks for more. Beside it each connection has up to 64 KiB, and each
  /// session its environment.
  std::size_t memory_bytes_max = std::size_t{1} << 30;
  /// The time limit for the first byte of a request, from connecting, or from the end of the answer
  /// before.
  std::chrono::milliseconds silence_timeout{5'000};
  /// The time limit for receiving a request or a message, from its first byte to its last.
  std::chrono::milliseconds request_timeout{15'000};
  /// The time limit for a client to receive an answer.
  std::chrono::milliseconds write_timeout{60'000};
  /// A client that has been silent for this time is sent a ping.
  std::chrono::milliseconds ping_interval{20'000};
  /// The time limit for answering a ping.
  std::chrono::milliseconds ping_timeout{20'000};
  /// A session without a request for this time is closed. It is long because language models may
  /// think for minutes.
  std::chrono::milliseconds idle_timeout{3'600'000};
};

/// Serves environments from a thread of its own. They are stepped by a few more threads, so that no
/// session waits for another, unless server_options::inline_steps allows otherwise. Its metrics are
/// troupe_openenv_server_*.
class server {
 public:
  /// Starts the server. `make` makes the environment of a session. `metrics` must outlive the
  /// server. Throws port_busy; std::invalid_argument for an invalid address or origin and for
  /// environments that a session can't have; and std::runtime_error, with address and port in its
  /// message, if it can't listen for another reason.
  server(environment_maker make, server_options options, metrics_registry& metrics);
  /// Closes every connection. Waits for the steps under way, but not for clients.
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// Returns the port that the server listens at.
  std::uint16_t port() const;

  bool is_draining() const;
  /// Accepts no more sessions, reports that it is unhealthy, and lets sessions end for at most
  /// `grace`. Then it closes the remaining ones with code 1001. Returns when all are closed. Any
  /// thread may call it, once.
  void drain(std::chrono::milliseconds grace);

 private:
  class house;
  std::unique_ptr<house> house_;
};

}  // namespace troupe::openenv_server

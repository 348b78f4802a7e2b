#pragma once
// A client of OpenEnv servers, which plays episodes from coroutines:
//
//   openenv::client games({.urls = {"http://localhost:8000", "http://localhost:8001"}});
//   auto game = games.open();
//   auto now = co_await game.reset({{"seed", 7}});
//   while (!now.ended) now = co_await game.step({{"action_id", 1}});
//
// A session is one connection, which one environment of one server serves. One thread reads and
// writes for all sessions of a process. Awaiting a reply blocks no thread.

#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "actors/openenv/protocol/error.hpp"
#include "actors/openenv/protocol/protocol.hpp"
#include "runtime/coroutine/task.hpp"

namespace troupe {
class metrics_registry;
}

namespace troupe::openenv {

/// The servers and the time limits of a client.
struct client_options {
  std::vector<std::string> urls;  ///< At least one; new sessions go to the least used server.
  /// The time limit for a connection. Within it a reset tries again while a server refuses
  /// connections, or answers that it is not available, as one that restarts does.
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds reply_timeout{60'000};  ///< The time limit for a reply.
  /// The longest time that a reset waits while every server is full.
  std::chrono::milliseconds capacity_timeout{60'000};
  /// A server that stays silent is pinged after half of this time and dropped after all of it.
  /// Behind tunnels that drop pings it must be longer.
  std::chrono::milliseconds keepalive{40'000};
  /// The longest reply in bytes that is accepted.
  std::size_t reply_bytes_max = std::size_t{16} << 20;
  /// A PEM file with the certificate authorities of https and wss servers. Empty means the system's
  /// authorities.
  std::string authorities = "";
  /// Fields of the header of every request and WebSocket handshake, such as {"Authorization",
  /// "Bearer .."}. Errors never contain their values.
  std::map<std::string, std::string> headers = {};
  /// The largest number of sessions of this process at one server, including those that are
  /// connecting.
  std::size_t sessions_max = 16'384;
  /// Whether a session closes its connection at the end of an episode, so that the server's slot is
  /// free until the next reset. It costs a connection for each episode. It is for servers with
  /// fewer slots than there are sessions.
  bool release_between_episodes = false;
};

/// One environment on a server, for one coroutine at a time. Destroying the session closes the
/// connection and with it the environment, even while a reply is awaited.
class session {
 public:
  session(session&&) noexcept;
  session& operator=(session&&) noexcept;
  ~session();

  /// Begins an episode. `with` has the arguments of the environment's reset: "seed", "episode_id"
  /// and the environment's own; null, which `reset({})` passes, means none. Connects if there is no
  /// connection, and waits while every server is full.
  ///
  /// Throws openenv::error, as all functions here. If keeps_session is false for its reason, the
  /// episode is dropped and the connection closed, and the next reset makes a new connection.
  task<result> reset(nlohmann::json with = nlohmann::json::object());
  /// Takes a step. `action` is a JSON object of the environment's own form. If the server refuses
  /// it, the error contains everything that the server says about it.
  task<result> step(nlohmann::json action);
  /// Returns "episode_id", "step_count" and the environment's own state.
  task<nlohmann::json> state();
  /// Sends a JSON-RPC request to the environment's tools: "tools/list", "tools/call".
  task<nlohmann::json> mcp(nlohmann::json request);

  /// Returns whether there is a connection, so an episode can continue.
  bool connected() const noexcept;
  /// Closes the connection and ends the environment. It must not be called while another coroutine
  /// awaits a reply.
  void close();
  /// Closes the session because the server's observations are unusable. The episode is dropped and
  /// counted under that reason.
  void drop(failure reason);

 private:
  friend class client;
  class state_of;
  explicit session(std::unique_ptr<state_of> state);
  std::unique_ptr<state_of> state_;
};

/// The servers of one environment. A client is cheap to copy.
class client {
 public:
  /// `metrics` must outlive the client; null counts nothing. Throws std::invalid_argument if there
  /// is no server, for an invalid address, and for options out of range.
  explicit client(client_options options, metrics_registry* metrics = nullptr);

  /// Returns a session that connects at its first reset.
  session open() const;
  const client_options& options() const noexcept;

 private:
  friend class session;
  class pool;
  std::shared_ptr<pool> pool_;
};

}  // namespace troupe::openenv

#pragma once
// Episodes on OpenEnv servers, from coroutines:
//
//   openenv::client games({.urls = {"http://localhost:8000", "http://localhost:8001"}});
//   auto game = games.open();
//   auto now = co_await game.reset({{"seed", 7}});
//   while (!now.ended) now = co_await game.step({{"action_id", 1}});
//
// A session is one connection, which one environment of one server serves. All sessions of a
// process are read and written by one thread; who awaits a reply blocks no thread.

#include <chrono>
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

/// Where to play, and how long to wait.
struct client_options {
  std::vector<std::string> urls;  ///< At least one; new sessions go where the fewest are.
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds reply_timeout{60'000};  ///< Agents that run code need more.
  /// How long a reset waits while every server is full.
  std::chrono::milliseconds capacity_timeout{60'000};
  /// A server that is silent for so long is pinged half-way, then left. Behind tunnels that drop
  /// pings: more.
  std::chrono::milliseconds keepalive{40'000};
  std::size_t reply_bytes_max = std::size_t{16} << 20;
  /// PEM file of the authorities that vouch for https and wss servers; empty: the system's.
  std::string authorities = "";
  /// Sessions of this process at one server, connecting ones included.
  std::size_t sessions_max = 16'384;
};

/// One environment on a server, for one coroutine at a time. Destroying it, also while it is
/// awaited, closes the connection, and with it the environment.
class session {
 public:
  session(session&&) noexcept;
  session& operator=(session&&) noexcept;
  ~session();

  /// Begins an episode with what the environment's reset takes: "seed" and "episode_id", and its
  /// own. Connects where there is no connection; while every server is full it waits.
  ///
  /// Throws openenv::error, as all of these. After one for which keeps_session is false the
  /// episode is dropped and the connection closed: the next reset makes another.
  task<result> reset(nlohmann::json with = nlohmann::json::object());
  /// `action` is an object of the environment's own. What the server refuses is thrown with all
  /// that it says of it.
  task<result> step(nlohmann::json action);
  /// "episode_id", "step_count" and the environment's own.
  task<nlohmann::json> state();
  /// A JSON-RPC request to the environment's tools: "tools/list", "tools/call".
  task<nlohmann::json> mcp(nlohmann::json request);

  /// Whether an episode can go on.
  bool connected() const noexcept;
  /// Ends the environment. Not while another coroutine awaits a reply.
  void close();
  /// The same, as what it has shown is no use: the episode is dropped, and counted by that reason.
  void drop(failure reason);

 private:
  friend class client;
  class state_of;
  explicit session(std::unique_ptr<state_of> state);
  std::unique_ptr<state_of> state_;
};

/// Servers of one environment. A cheap value.
class client {
 public:
  /// `metrics` outlives it; null: nothing is counted. Throws std::invalid_argument for no server,
  /// what is no address, and options out of range.
  explicit client(client_options options, metrics_registry* metrics = nullptr);

  /// Connects at its first reset.
  session open() const;
  const client_options& options() const noexcept;

 private:
  friend class session;
  class pool;
  std::shared_ptr<pool> pool_;
};

}  // namespace troupe::openenv

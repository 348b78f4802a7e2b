#pragma once
// A client of OpenEnv servers, which plays episodes from coroutines:
//
//   openenv::client games({.urls = {"http://localhost:8000", "http://localhost:8001"}});
//   auto game = games.open();
//   auto now = co_await game.reset({{"seed", 7}});
//   while (!now.ended) now = co_await game.step({{"action_id", 1}});
//
// A session has at most one connection at a time, and one environment on one server serves it. One
// thread reads and writes for all sessions of a process. Awaiting a reply blocks no thread.

#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "actors/openenv/protocol/error.hpp"
#include "actors/openenv/protocol/protocol.hpp"
#include "runtime/coroutine/task.hpp"

namespace troupe {
class metrics_registry;
}

namespace troupe::openenv {

/// The options of a run that set a client's limits, such as "env.step_timeout", which messages
/// name. Empty means that the program sets the limit.
struct limit_names {
  std::string connect = "", reply = "", reset = "", capacity = "";
};

/// The servers and the limits of a client.
struct client_options {
  /// The addresses of the servers, at least one. A session connects to the server with the fewest
  /// sessions of this process.
  std::vector<std::string> urls;
  /// The longest time that connecting to a server may take, > 0; then the reset fails with
  /// failure::connect, unless another server has room. Within it a reset tries again while a server
  /// refuses connections, or answers that it is not available, as one that restarts does.
  std::chrono::milliseconds connect_timeout{10'000};
  /// The longest time that a reply may take, > 0; then the request fails with failure::timeout.
  std::chrono::milliseconds reply_timeout{60'000};
  /// The same for the reply to a reset. Unset means reply_timeout.
  std::optional<std::chrono::milliseconds> reset_timeout = {};
  /// The longest time that a reset waits while every server is full, >= 0; then the reset fails
  /// with failure::capacity. A server is full if it refuses a session or has `sessions_max` of
  /// them. Sessions wait in the order in which they came. While any waits, sessions of this process
  /// give up their slots between two episodes. The time begins anew with each reply to another
  /// session of this process, which will leave its slot, until none of them has got a slot for ten
  /// times as long.
  std::chrono::milliseconds capacity_timeout{60'000};
  /// The number of sessions that are in episodes at the same time, so that none of them gives up
  /// its slot for another one. A server that says it has fewer slots refuses a reset at once. 0
  /// means that sessions may take turns.
  std::size_t sessions_together = 0;
  /// A WebSocket connection on which nothing arrives is pinged after half of this time, > 0, and
  /// closed after all of it; a request under way then fails with failure::closed. Where no ping has
  /// been answered so far, as behind a tunnel that drops pings, the connection stays open, and
  /// `reply_timeout` alone limits requests.
  std::chrono::milliseconds keepalive{40'000};
  /// The longest reply in bytes that is accepted, > 0; a longer one fails with failure::too_large.
  std::size_t reply_bytes_max = std::size_t{16} << 20;
  /// The path of a PEM file with the certificate authorities that are trusted for https and wss
  /// servers. Empty means the system's authorities.
  std::string authorities = "";
  /// Fields of the header of every request and WebSocket handshake, such as {"Authorization",
  /// "Bearer .."}. Errors never contain their values.
  std::map<std::string, std::string> headers = {};
  /// The largest number of sessions at one server, > 0. It counts the sessions of all clients of
  /// this process, including those that are connecting.
  std::size_t sessions_max = 16'384;
  /// Whether a session always closes its connection at the end of an episode, so that the server's
  /// slot is free until the next reset. Otherwise it does so only where another session of this
  /// process waits, and at servers that have refused one of them because they were full. It is for
  /// sessions of several processes that share a server's slots. The next episode then has a new
  /// connection and a new environment: what a server keeps in a session beyond a reset, such as the
  /// state of a random generator that no seed has set, begins anew.
  bool release_between_episodes = false;
  limit_names named_by = {};
};

/// An environment on a server. Only one coroutine may use it at a time; a second request throws
/// std::logic_error. Destroying the session closes the connection and with it the environment. The
/// connection is also closed if a coroutine is cancelled while it awaits a reply.
class session {
 public:
  session(session&&) noexcept;
  session& operator=(session&&) noexcept;
  ~session();

  /// Begins an episode. `with` is a JSON object with the arguments of the environment's reset:
  /// "seed", "episode_id" and arguments that this environment defines; null, which `reset({})`
  /// passes, means none. Connects if there is no
  /// connection, and waits while every server is full.
  ///
  /// `reset`, `step`, `state` and `mcp` throw openenv::error. If keeps_session(error.reason()) is
  /// false, the episode is dropped and the connection closed, and the next reset makes a new
  /// connection. They throw std::invalid_argument for an argument that is no JSON object or is
  /// longer than request_bytes_max.
  task<result> reset(nlohmann::json with = nlohmann::json::object());
  /// Takes a step. `action` is a JSON object, whose members the environment defines. If the server
  /// refuses it, the error contains everything that the server says about it. Without a connection
  /// `step`, `state` and `mcp` throw an error with failure::closed.
  task<result> step(nlohmann::json action);
  /// Returns a JSON object with "episode_id", "step_count" and further members that the environment
  /// defines.
  task<nlohmann::json> state();
  /// Sends a JSON-RPC request, such as "tools/list" or "tools/call", to the environment's tools.
  /// Returns the whole JSON-RPC response.
  task<nlohmann::json> mcp(nlohmann::json request);

  /// Ends an episode that the server has not ended, such as one that has had enough turns: its slot
  /// is then free for other sessions, as after an episode that has ended. Nothing is sent, and the
  /// next reset begins another episode. Does nothing between episodes and while a request is under
  /// way.
  void end_episode();

  /// Returns true if there is a connection. Only then can the episode continue. Between two
  /// episodes the connection may close at any time.
  bool connected() const noexcept;
  /// Closes the connection, if there is one, and ends the environment. The next reset makes a new
  /// connection. A request of another coroutine that is under way, or a reset that waits for room,
  /// ends with failure::cancelled.
  void close();
  /// Closes the connection, as `close` does, and counts the episode as dropped and failed for
  /// `reason`. Call it for observations that the caller can't use.
  void drop(failure reason);

 private:
  friend class client;
  class state_of;
  explicit session(std::unique_ptr<state_of> state);
  std::unique_ptr<state_of> state_;
};

/// A client of servers that all offer the same kind of environment. A client is cheap to copy.
class client {
 public:
  /// If `metrics` is null, nothing is counted; otherwise it must outlive the client, its copies and
  /// its sessions. Throws std::invalid_argument if there is no server, for an invalid address, and
  /// for options out of range.
  explicit client(client_options options, metrics_registry* metrics = nullptr);

  /// Returns a session that connects at its first reset.
  session open() const;
  /// Returns the options that the client was made with.
  const client_options& options() const noexcept;

 private:
  friend class session;
  class pool;
  std::shared_ptr<pool> pool_;
};

}  // namespace troupe::openenv

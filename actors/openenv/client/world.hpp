#pragma once
// An environment of an OpenEnv server as a role:
//
//   openenv::client_options servers{.urls = {"http://localhost:8000"}};
//   auto tables = co_await sys.serve<openenv::world<openenv::openspiel>>(
//       {.name = "blackjack", .replicas = 32}, servers);
//
//   auto table = co_await tables.session({.exclusive = true});  // one episode at a time
//   auto now = co_await table.route<&openenv::world<openenv::openspiel>::reset>(json::object());
//   while (!now.ended) {
//     openenv::openspiel::action hit{.action_id = 0};
//     now = co_await table.route<&openenv::world<openenv::openspiel>::step>(hit);
//   }

#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>

#include "actors/openenv/client/client.hpp"
#include "actors/openenv/protocol/fields.hpp"
#include "actors/openenv/protocol/worlds.hpp"

namespace troupe::openenv {

/// The result of reset and step with a typed observation; see `result`.
template <class Observation>
struct turn {
  Observation observation;
  std::optional<double> reward;
  bool ended = false;
  nlohmann::json metadata = nullptr;
};

/// Converts a JSON result. Throws openenv::error with reason wrong_type.
template <class Observation>
turn<Observation> to_turn(result from) {
  turn<Observation> made;
  if constexpr (std::same_as<Observation, nlohmann::json>) {
    made.observation = std::move(from.observation);
  } else {
    try {
      made.observation = from_json<Observation>(from.observation, "/data/observation");
    } catch (const bad_text& e) {
      throw error(failure::wrong_type, std::string("openenv: ") + e.what());
    }
  }
  made.reward = from.reward;
  made.ended = from.ended;
  made.metadata = std::move(from.metadata);
  return made;
}

/// A role with one environment of a server in each replica, for one episode at a time: callers take
/// an exclusive session. An episode that fails ends with openenv::error, which callers of the
/// service get as the cause of a role_error. The replica keeps serving, and its next reset has a
/// new connection.
template <class World>
class world {
 public:
  using action = typename World::action;
  using observation = typename World::observation;

  explicit world(client_options servers, metrics_registry* metrics = nullptr)
      : session_(client(std::move(servers), metrics).open()) {}

  /// Begins an episode. `with` has "seed", "episode_id" and the environment's own arguments.
  task<turn<observation>> reset(nlohmann::json with) {
    auto got = co_await session_.reset(std::move(with));
    co_return typed(std::move(got));
  }
  task<turn<observation>> step(action what) {
    auto got = co_await session_.step(write(what));
    co_return typed(std::move(got));
  }
  task<nlohmann::json> state() { return session_.state(); }
  /// Closes the connection, so that the server has a slot more until the next reset.
  void close() { session_.close(); }
  /// Sends a JSON-RPC request to the environment's tools.
  task<nlohmann::json> mcp(nlohmann::json request) { return session_.mcp(std::move(request)); }

 private:
  static nlohmann::json write(const action& what) {
    if constexpr (std::same_as<action, nlohmann::json>)
      return what;
    else
      return to_json_object(what);
  }
  /// Converts a result. A server whose observations are not those of World can't be used, so the
  /// session is dropped.
  turn<observation> typed(result from) {
    try {
      return to_turn<observation>(std::move(from));
    } catch (...) {
      session_.drop(failure::wrong_type);
      throw;
    }
  }

  session session_;
};

}  // namespace troupe::openenv

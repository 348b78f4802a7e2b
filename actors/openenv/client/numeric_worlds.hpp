#pragma once
// OpenEnv worlds as numbers, so that PPO, DQN and the others train on them like on any environment:
//
//   openenv::register_world("BlackJack-OpenEnv", openenv::openspiel_view("blackjack"),
//                           {.urls = {"http://localhost:8000"}});
//   ppo_config ppo;
//   ppo.env.id = "BlackJack-OpenEnv";

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "actors/environments/vector_environment.hpp"
#include "actors/openenv/client/client.hpp"

namespace troupe::openenv {

/// How a world looks in numbers.
struct numeric_view {
  env_spec spec;
  /// Writes all of `obs`, [D], from what the world shows. Throws for what it should not show.
  std::function<void(const nlohmann::json& observation, std::span<float> obs)> observe;
  /// The world's own action.
  std::function<nlohmann::json(action_view action)> act;
  /// The reward of an action that the world forbids where it shows `observation`: it is not sent,
  /// and ends the episode. None: it is allowed. Null: all are.
  std::function<std::optional<double>(const nlohmann::json& observation, action_view action)>
      forbid;
};

/// A game of OpenSpiel on a server: its info_state, and its actions by number. What is no legal
/// action loses: it ends the episode with -1. Knows blackjack, tic_tac_toe, connect_four, catch,
/// cliff_walking, 2048 and kuhn_poker; throws std::invalid_argument for others.
numeric_view openspiel_view(const std::string& game);

/// The environments of `troupe serve-env`, and others that show their observation as the list "obs"
/// and take {"action": ..}: a number, or a list of them.
numeric_view served_view(env_spec spec);

/// B sessions on the servers that are stepped at once. Whoever calls it waits, so it is for threads
/// that may: `env.placement=thread`, or a program of its own. An episode that fails is an
/// env_failure, and the next one begins. OpenEnv does not tell a time limit from the end of the
/// task: an end is a termination, unless the world shows "truncated": true. Throws
/// std::invalid_argument, also for a size of 0.
std::unique_ptr<vector_environment> make_numeric_worlds(numeric_view view, client_options servers,
                                                        std::size_t size,
                                                        metrics_registry* metrics = nullptr);

/// Makes them known by name, as `register_vector_environment` does.
void register_world(const std::string& id, numeric_view view, client_options servers,
                    metrics_registry* metrics = nullptr);

}  // namespace troupe::openenv

#pragma once
// OpenEnv environments as numeric ones, so that PPO, DQN and the others train on them like on any
// environment:
//
//   openenv::register_world("BlackJack-OpenEnv", openenv::openspiel_view("blackjack"),
//                           {.urls = {"http://localhost:8000"}});
//   ppo_config ppo;
//   ppo.env.id = "BlackJack-OpenEnv";

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "actors/environments/vector_environment.hpp"
#include "actors/openenv/client/client.hpp"

namespace troupe::openenv {

/// How the episodes of environments on servers have ended. Any thread may count them.
struct ended_episodes {
  std::atomic<std::int64_t> all{0};  ///< Without those that failed.
  std::atomic<std::int64_t> by_illegal_action{
      0};                            ///< Of these, those whose last action was illegal.
  std::atomic<bool> is_told{false};  ///< The log has told that there are such.
};

/// The conversion between an environment's JSON and numbers.
struct numeric_view {
  env_spec spec;
  /// Writes all of `obs`, [D], from an observation. Throws for an observation of the wrong form.
  std::function<void(const nlohmann::json& observation, std::span<float> obs)> observe;
  /// Returns the environment's own action as JSON.
  std::function<nlohmann::json(action_view action)> act;
  /// Returns the reward of an action that is illegal after `observation`, or nullopt if it is
  /// legal. An illegal action is not sent and ends the episode. A null function means that all
  /// actions are legal.
  std::function<std::optional<double>(const nlohmann::json& observation, action_view action)>
      forbid;
  /// The reward of a step whose reward is null. OpenEnv's servers write NaN and infinity as null,
  /// so by default it is NaN, and the episode is an env_failure. It may be 0 for an environment
  /// that sends null where there is nothing to reward.
  double null_reward = std::numeric_limits<double>::quiet_NaN();
  /// What the environments of this view and of its copies count. If illegal actions have ended
  /// episodes, the log says so once, with both numbers.
  std::shared_ptr<ended_episodes> ended = std::make_shared<ended_episodes>();
};

/// Returns the view of an OpenSpiel game on a server: its info_state, and its actions by number. An
/// illegal action ends the episode with -1. Knows blackjack, tic_tac_toe, connect_four, catch,
/// cliff_walking, 2048, kuhn_poker, leduc_poker and chess. Throws std::invalid_argument for other
/// games.
numeric_view openspiel_view(const std::string& game);
/// Returns the number of actions of such a game, or nullopt for other games.
std::optional<std::int64_t> openspiel_actions(const std::string& game);

/// Returns the view of the environments of `troupe serve-env`, and of others that have their
/// observation in the list "obs" and take {"action": ..} with a number or a list of numbers.
numeric_view served_view(env_spec spec);

/// Makes a vector environment of `size` sessions on the servers, which are stepped at the same
/// time. Its calls block until the servers have answered, so it is for threads that may block:
/// `env.placement=thread`, or a program of its own. An episode that fails is an env_failure, and
/// the next one begins. OpenEnv does not distinguish a time limit from the end of the task, so an
/// end counts as a termination unless the observation has "truncated": true. Throws
/// std::invalid_argument, also for a size of 0.
std::unique_ptr<vector_environment> make_numeric_worlds(numeric_view view, client_options servers,
                                                        std::size_t size,
                                                        metrics_registry* metrics = nullptr);

/// Registers such an environment under `id`, as `register_vector_environment` does.
void register_world(const std::string& id, numeric_view view, client_options servers,
                    metrics_registry* metrics = nullptr);

}  // namespace troupe::openenv

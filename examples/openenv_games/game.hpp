#pragma once
// The games of examples/openenv_games.cpp: the observation of each in numbers, and players that do
// not learn.

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "actors/openenv/client/numeric_worlds.hpp"
#include "actors/random/action_random.hpp"

namespace games {

/// A function that chooses an action for an observation.
using player =
    std::function<std::int64_t(const nlohmann::json& observation, troupe::action_random& random)>;

struct named_player {
  std::string name;
  player choose;
};

struct game {
  std::string name;
  troupe::openenv::numeric_view view;        ///< The observation for PPO.
  troupe::openenv::numeric_view table_view;  ///< A tuple of few numbers, for rows of a table.
  std::vector<named_player> baselines;
  std::int64_t steps = 0;  ///< The number of steps that each learner learns from.
};

/// A game on a server whose messages are those of OpenEnv's openspiel environment: "blackjack",
/// "tic_tac_toe" or "connect_four". Throws std::invalid_argument for other names.
game openspiel_game(const std::string& name);

/// Blackjack by Gymnasium's rules, as `troupe serve-env Blackjack-v1` serves it. Cards are drawn
/// from an infinite deck.
game served_blackjack();

}  // namespace games

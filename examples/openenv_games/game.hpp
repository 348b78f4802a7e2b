#pragma once
// The games that examples/openenv_games.cpp knows: how each looks in numbers, and who plays it
// without having learned anything.

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "actors/openenv/client/numeric_worlds.hpp"
#include "actors/random/action_random.hpp"

namespace games {

/// An action for what the world shows.
using player =
    std::function<std::int64_t(const nlohmann::json& observation, troupe::action_random& random)>;

struct named_player {
  std::string name;
  player choose;
};

struct game {
  std::string name;
  troupe::openenv::numeric_view view;        ///< What PPO learns from.
  troupe::openenv::numeric_view table_view;  ///< A tuple of few numbers: what a table has rows for.
  std::vector<named_player> baselines;
  std::int64_t steps = 0;  ///< That each learner learns from.
};

/// A game on a server whose messages are those of OpenEnv's openspiel environment: "blackjack",
/// "tic_tac_toe", "connect_four". Throws std::invalid_argument for others.
game openspiel_game(const std::string& name);

/// Blackjack by Gymnasium's rules, as `troupe serve-env Blackjack-v1` serves it: cards are drawn
/// from a deck without end.
game served_blackjack();

}  // namespace games

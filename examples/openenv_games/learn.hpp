#pragma once
// The learners of examples/openenv_games.cpp.

#include <cstdint>

#include "actors/openenv/client/client.hpp"
#include "examples/openenv_games/game.hpp"
#include "runtime/system/system.hpp"

namespace games {

/// Learn a game by a table (algorithms/off_policy/q_learning) or by PPO (algorithms/on_policy/ppo),
/// whose run directory is in runs/ppo/. Both play in 64 sessions at once and return the player that
/// they have learned. The same seed gives the same player.
troupe::task<player> learn_by_table(troupe::system& sys, game what,
                                    troupe::openenv::client_options servers, std::uint64_t seed);
troupe::task<player> learn_by_ppo(troupe::system& sys, game what,
                                  troupe::openenv::client_options servers, std::uint64_t seed);

}  // namespace games

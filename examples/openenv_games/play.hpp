#pragma once
// The evaluation of players, for examples/openenv_games.cpp and examples/grpo_blackjack.cpp.

#include <cstdint>

#include "actors/openenv/client/client.hpp"
#include "examples/openenv_games/game.hpp"
#include "runtime/coroutine/task.hpp"

namespace games {

/// The results of games.
struct tally {
  std::int64_t played = 0, won = 0, drawn = 0, lost = 0;
  double sum = 0;  ///< the sum of all returns

  void add(double episode_return);
  double win_rate() const { return static_cast<double>(won) / static_cast<double>(played); }
};

/// Plays `count` whole games in 64 sessions at once. Each session has its own random numbers on
/// both ends, so that the same seed gives the same games. An illegal action loses the game.
troupe::task<tally> play(troupe::openenv::client servers, game what, player who, std::int64_t count,
                         std::uint64_t seed);

}  // namespace games

#pragma once

#include <cstdint>

#include "actors/openenv/client/client.hpp"
#include "examples/openenv_games/game.hpp"
#include "runtime/coroutine/task.hpp"

namespace games {

/// How games ended.
struct tally {
  std::int64_t played = 0, won = 0, drawn = 0, lost = 0;
  double sum = 0;  ///< of all returns

  void add(double episode_return);
  double win_rate() const { return static_cast<double>(won) / static_cast<double>(played); }
};

/// So many whole games by that player, in 64 sessions at once, each of which has its own random
/// numbers on both ends: the same seed gives the same games. An action that is not legal loses.
troupe::task<tally> play(troupe::openenv::client servers, game what, player who, std::int64_t count,
                         std::uint64_t seed);

}  // namespace games

#include "examples/openenv_games/play.hpp"

#include <utility>

#include "actors/random/derived_seed.hpp"
#include "runtime/coroutine/combine.hpp"

namespace games {

namespace openenv = troupe::openenv;
using nlohmann::json;
using troupe::action_view;
using troupe::task;

namespace {

constexpr std::int64_t sessions = 64;

task<tally> play_in_turn(openenv::client servers, const game& what, const player& who,
                         std::int64_t count, std::uint64_t seed) {
  auto table = servers.open();
  troupe::action_random random(seed);
  tally seen;
  json with{{"seed", seed}};
  while (seen.played < count) {
    auto now = co_await table.reset(std::exchange(with, json::object()));
    double episode_return = 0;
    bool forbidden = false;
    while (!now.ended && !forbidden) {
      const auto choice = who(now.observation, random);
      const action_view action(choice);
      const auto loss = what.view.forbid ? what.view.forbid(now.observation, action) : std::nullopt;
      forbidden = loss.has_value();
      if (forbidden) {
        episode_return += *loss;
      } else {
        now = co_await table.step(what.view.act(action));
        episode_return += now.reward.value_or(0);
      }
    }
    seen.add(episode_return);
  }
  co_return seen;
}

}  // namespace

void tally::add(double episode_return) {
  ++played;
  won += episode_return > 0;
  drawn += episode_return == 0;
  lost += episode_return < 0;
  sum += episode_return;
}

task<tally> play(openenv::client servers, game what, player who, std::int64_t count,
                 std::uint64_t seed) {
  std::vector<task<tally>> tables;
  for (std::int64_t i = 0; i < sessions; ++i) {
    const auto share = (count + i) / sessions;
    const auto of_table = troupe::environment_seed(seed, "table", {static_cast<std::uint64_t>(i)});
    tables.push_back(play_in_turn(servers, what, who, share, of_table));
  }
  const auto all_seen = co_await all(std::move(tables));
  tally total;
  for (const auto& one : all_seen) {
    total.played += one.played;
    total.won += one.won;
    total.drawn += one.drawn;
    total.lost += one.lost;
    total.sum += one.sum;
  }
  co_return total;
}

}  // namespace games

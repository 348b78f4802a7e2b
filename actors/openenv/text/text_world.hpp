#pragma once
// A game in words as a role, for language models:
//
//   const auto& game = *openenv::find_text_game("blackjack");
//   auto tables = co_await sys.serve<openenv::text_world>(
//       {.name = "worlds", .replicas = 32}, game.view, openenv::worlds_on({.urls = {url}}), -1.1);
//
//   auto table = co_await tables.session({.exclusive = true});  // one episode at a time
//   auto now = co_await table.route<&openenv::text_world::begin>(7);
//   while (!now.ended) now = co_await table.route<&openenv::text_world::say>("HIT");

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/openenv/client/client.hpp"
#include "actors/random/action_random.hpp"

namespace troupe::openenv {

/// The same thing said in two ways.
struct wording {
  std::string words;    ///< to models that read English
  std::string letters;  ///< in the few letters of actors/llm/tasks/letters_model.hpp

  bool operator==(const wording&) const = default;
};

/// What a player is shown, and what it says then.
struct spoken_turn {
  wording shown, said;
};

/// How a world looks in words.
struct text_view {
  std::string rules;  ///< what a model that reads English is told once, before the first turn
  /// Throws for what the world should not show.
  std::function<wording(const nlohmann::json& observation)> show;
  /// The world's own action for what was said, in either way; none: no legal move.
  std::function<std::optional<nlohmann::json>(const nlohmann::json& observation,
                                              std::string_view said)>
      act;
  /// A made-up conversation of legal moves, good and bad ones alike: it teaches how moves are said,
  /// and not which are good.
  std::function<std::vector<spoken_turn>(action_random& random)> practise;
};

/// A world, and what it needs.
struct text_game {
  std::string name;         ///< "blackjack"
  std::string what;         ///< in a few words
  std::string environment;  ///< Troupe's own environment that the view fits; empty: none does
  int turns = 0;            ///< of a player, after which its longest games are over
  text_view view;
};

/// On OpenEnv's openspiel servers, and Troupe's environments: blackjack (Blackjack-v1), tic_tac_toe
/// (TicTacToe-v0), connect_four (ConnectFour-v0).
const std::vector<text_game>& text_games();
/// Null for others.
const text_game* find_text_game(std::string_view name);

/// One environment that speaks as OpenEnv's do, for one coroutine at a time.
class json_world {
 public:
  virtual ~json_world() = default;
  virtual task<result> reset(nlohmann::json with) = 0;
  virtual task<result> step(nlohmann::json action) = 0;
};
using world_maker = std::function<std::unique_ptr<json_world>()>;

/// Sessions on these servers. Throws std::invalid_argument as openenv::client does.
world_maker worlds_on(client_options servers, metrics_registry* metrics = nullptr);

/// What a player is told.
struct text_turn {
  wording shown;
  double reward = 0;     ///< of what it has said last
  bool ended = false;    ///< the episode
  bool illegal = false;  ///< what it said was no legal move, which ended the episode
};

/// One world in each replica, for one episode at a time: callers take an exclusive session. What is
/// no legal move isn't sent to the world: it ends the episode with `illegal_reward`. An episode
/// that fails ends in openenv::error; the replica serves on, and its next episode is a new one.
class text_world {
 public:
  text_world(text_view view, world_maker make, double illegal_reward);

  /// A new episode: the same seed deals the same.
  task<text_turn> begin(std::uint64_t seed);
  task<text_turn> say(std::string what);

 private:
  text_view view_;
  double illegal_reward_;
  std::unique_ptr<json_world> world_;
  nlohmann::json shown_;
};

}  // namespace troupe::openenv

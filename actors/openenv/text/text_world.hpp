#pragma once
// A game in words as a role, which language models play:
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

/// The same text in two forms.
struct wording {
  std::string words;    ///< for models that read English
  std::string letters;  ///< for the few letters of actors/llm/tasks/letters_model.hpp

  bool operator==(const wording&) const = default;
};

/// One turn of a conversation: the text shown to the player, and the player's answer.
struct dialogue_turn {
  wording shown, said;
};

/// The conversion between an environment's JSON and words.
struct text_view {
  /// The text that a model that reads English is told once, before the first turn.
  std::string rules;
  /// Returns the text of an observation. Throws for an observation of the wrong form.
  std::function<wording(const nlohmann::json& observation)> show;
  /// Returns the environment's own action for an answer in either form, or nullopt if it is no
  /// legal move.
  std::function<std::optional<nlohmann::json>(const nlohmann::json& observation,
                                              std::string_view said)>
      act;
  /// Returns a made-up conversation of legal moves, good and bad ones alike. It teaches how moves
  /// are written and not which moves are good.
  std::function<std::vector<dialogue_turn>(action_random& random)> practise;
};

/// A game and its view.
struct text_game {
  std::string name;         ///< the name, such as "blackjack"
  std::string what;         ///< a short description
  std::string environment;  ///< Troupe's environment that the view fits; empty means none
  int turns = 0;            ///< the number of the player's turns in the longest game
  text_view view;
};

/// Returns the games that are known: blackjack (also Troupe's Blackjack-v1), tic_tac_toe (also
/// TicTacToe-v0), connect_four (also ConnectFour-v0), and catch. All run on OpenEnv's openspiel
/// servers.
const std::vector<text_game>& text_games();
/// Returns null for an unknown name.
const text_game* find_text_game(std::string_view name);

/// An environment with OpenEnv's messages, for one coroutine at a time.
class json_world {
 public:
  virtual ~json_world() = default;
  virtual task<result> reset(nlohmann::json with) = 0;
  virtual task<result> step(nlohmann::json action) = 0;
};
using world_maker = std::function<std::unique_ptr<json_world>()>;

/// Returns a function that opens sessions on these servers. Throws std::invalid_argument as
/// openenv::client does.
world_maker worlds_on(client_options servers, metrics_registry* metrics = nullptr);

/// The result of a turn.
struct text_turn {
  wording shown;
  /// The reward of the player's last answer.
  double reward = 0;
  /// Whether the episode has ended.
  bool ended = false;
  /// Whether the last answer was no legal move, which ended the episode.
  bool illegal = false;
};

/// A role with one environment in each replica, for one episode at a time: callers take an
/// exclusive session. An answer that is no legal move is not sent to the environment and ends the
/// episode with `illegal_reward`. A reward of null counts as 0. An episode that fails ends
/// with openenv::error, which callers of the service get as the cause of a role_error; the replica
/// keeps serving, and its next episode is a new one.
class text_world {
 public:
  text_world(text_view view, world_maker make, double illegal_reward);

  /// Begins an episode. The same seed gives the same episode.
  task<text_turn> begin(std::uint64_t seed);
  /// Takes a step with the player's answer.
  task<text_turn> say(std::string what);

 private:
  text_view view_;
  double illegal_reward_;
  std::unique_ptr<json_world> world_;
  nlohmann::json shown_;
};

}  // namespace troupe::openenv

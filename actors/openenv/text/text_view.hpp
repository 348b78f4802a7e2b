#pragma once
// Games of OpenEnv servers, and of Troupe's own environments with OpenEnv's messages, in words.
//
//   const auto& game = *openenv::find_text_game("blackjack");
//   const auto spec = openenv::text_environment_of(game, openenv::worlds_on({.urls = {url}}));
//   auto tables = co_await sys.serve<text_world>({.name = "worlds", .replicas = 32}, spec.make,
//                                                text_world_options{.refusal_ends = true});

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/openenv/client/client.hpp"
#include "actors/text/text_environment.hpp"

namespace troupe::openenv {

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
  /// are written and not which moves are good. Null if there is none.
  std::function<std::vector<dialogue_turn>(action_random& random)> practise;
};

/// A game and its view.
struct text_game {
  std::string name;         ///< the name, such as "blackjack"
  std::string what;         ///< a short description
  std::string environment;  ///< Troupe's environment that the view fits; empty means none
  int turns = 0;            ///< the number of the player's turns in the longest game
  text_view view;
  /// Whether the letters model can play it: only what can be practised is told in letters.
  bool has_letters() const { return view.practise != nullptr; }
};

/// Returns the games that are known: blackjack (also Troupe's Blackjack-v1), tic_tac_toe (also
/// TicTacToe-v0), connect_four (also ConnectFour-v0), and catch, 2048, cliff_walking, kuhn_poker
/// and leduc_poker (openspiel_text.hpp). All run on OpenEnv's openspiel servers.
const std::vector<text_game>& text_games();
/// Returns null for an unknown name.
const text_game* find_text_game(std::string_view name);

/// An environment with OpenEnv's messages, for one coroutine at a time.
class json_world {
 public:
  virtual ~json_world() = default;
  virtual task<result> reset(nlohmann::json with) = 0;
  virtual task<result> step(nlohmann::json action) = 0;
  /// See text_environment::end_episode.
  virtual void end_episode() {}
};
using world_maker = std::function<std::unique_ptr<json_world>()>;

/// Returns a function that opens sessions on these servers. Throws std::invalid_argument as
/// openenv::client does.
world_maker worlds_on(client_options servers, metrics_registry* metrics = nullptr);

/// The game on such worlds. A reply that is no legal move is refused and not sent to the world. A
/// reward of null counts as 0. An episode that fails ends with openenv::error.
text_environment_spec text_environment_of(const text_game& game, world_maker make);

}  // namespace troupe::openenv

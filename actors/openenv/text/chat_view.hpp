#pragma once
// OpenEnv environments in words: how a model is shown an observation, and how its text becomes an
// action.

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "actors/openenv/protocol/protocol.hpp"
#include "actors/openenv/text/text_view.hpp"
#include "actors/text/text_action.hpp"

namespace troupe::openenv {

/// The description of one kind of environment.
struct chat_view {
  std::string system_prompt;  ///< The first message for the model; empty means none.
  /// Parses the model's text.
  std::function<text_action(std::string_view written)> parse = parse_action;
  /// Returns the environment's own action. Throws std::invalid_argument, whose message the model is
  /// told, for an action that does not exist.
  std::function<nlohmann::json(const text_action&)> act;
  /// Returns the text that the model is shown after a reset or a step.
  std::function<std::string(const result&)> show;
  /// Returns whether an episode that ended so was a success. Null means that its return tells it.
  std::function<bool(const result&)> success = nullptr;
};

/// The environments that the view describes. The reset gets the seed, and the members of the item's
/// "reset", if it has that. An action that is malformed, that the view does not know or that the
/// world refuses is refused, and the episode goes on. It ends with openenv::error if the world
/// fails.
text_environment_maker chat_environments(chat_view view, world_maker make);

/// Returns a world whose action is the message to echo.
chat_view echo_chat_view();
/// Returns a world whose action is Python code; the model is shown its output.
chat_view coding_chat_view();
/// Returns a world whose action is a message to a game of TextArena.
chat_view textarena_chat_view();
/// Returns a world whose actions call these MCP tools (tools_in_words); the model is shown their
/// results.
chat_view tools_chat_view(const nlohmann::json& tools = nlohmann::json::array());
/// Returns a game of OpenSpiel whose actions have these names, in any case. The observation is
/// shown as JSON.
chat_view openspiel_chat_view(std::map<std::string, int> actions);
/// Returns OpenSpiel's blackjack. Actions are HIT and STAND; the hand and the dealer's card are
/// shown in words.
chat_view blackjack_chat_view();

/// Returns the text of OpenSpiel's blackjack tensor [189]: "Your cards: 10 of hearts, 6 of clubs
/// (16). The dealer shows: 7 of spades." Throws std::invalid_argument for another size.
std::string blackjack_in_words(const std::vector<float>& info_state);

}  // namespace troupe::openenv

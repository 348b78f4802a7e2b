#pragma once
// OpenEnv worlds in words: how a model is shown one, and how what it does is put to it.

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "actors/openenv/protocol/protocol.hpp"
#include "actors/text/text_action.hpp"

namespace troupe {

/// How one kind of world looks in a chat.
struct chat_view {
  std::string system_prompt;  ///< What the model is told first; empty: nothing.
  /// Reads what the model wrote.
  std::function<text_action(std::string_view written)> parse = parse_action;
  /// The world's own action. Throws std::invalid_argument, whose text the model is told, for what
  /// the world has no word for.
  std::function<nlohmann::json(const text_action&)> act;
  /// What the model is shown of a reset or a step.
  std::function<std::string(const openenv::result&)> show;
  std::string shown_as = "user";  ///< The role of those messages; "tool" after tool calls.
};

/// The action is the message to echo.
chat_view echo_chat_view();
/// The action is Python; its output is shown.
chat_view coding_chat_view();
/// The action is a message to a game of TextArena.
chat_view textarena_chat_view();
/// Tools of an MCP world are called; their results are shown.
chat_view tools_chat_view();
/// A game of OpenSpiel whose actions have these names, case aside; the observation is shown as
/// JSON.
chat_view openspiel_chat_view(std::map<std::string, int> actions);
/// OpenSpiel's blackjack: HIT and STAND, with the hand and the dealer's card in words.
chat_view blackjack_chat_view();

/// What OpenSpiel's blackjack tensor [189] shows, in words: "Your cards: 10 of hearts, 6 of clubs
/// (16). The dealer shows: 7 of spades." Throws std::invalid_argument for another size.
std::string blackjack_in_words(const std::vector<float>& info_state);

}  // namespace troupe

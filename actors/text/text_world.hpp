#pragma once
// OpenEnv worlds in words: how a model is shown one, and how what it does is put to it.

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "actors/env/openenv/protocol.hpp"
#include "actors/text/text_action.hpp"

namespace troupe {

/// One kind of world.
struct text_world {
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
text_world echo_text_world();
/// The action is Python; its output is shown.
text_world coding_text_world();
/// The action is a message to a game of TextArena.
text_world textarena_text_world();
/// Tools of an MCP world are called; their results are shown.
text_world tools_text_world();
/// A game of OpenSpiel whose actions have these names, case aside; the observation is shown as
/// JSON.
text_world openspiel_text_world(std::map<std::string, int> actions);
/// OpenSpiel's blackjack: HIT and STAND, with the hand and the dealer's card in words.
text_world blackjack_text_world();

/// What OpenSpiel's blackjack tensor [189] shows, in words: "Your cards: 10 of hearts, 6 of clubs
/// (16). The dealer shows: 7 of spades." Throws std::invalid_argument for another size.
std::string blackjack_in_words(const std::vector<float>& info_state);

}  // namespace troupe

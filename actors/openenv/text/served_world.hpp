#pragma once
// Text worlds on OpenEnv servers, by their addresses.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "actors/openenv/client/server_options.hpp"
#include "actors/openenv/text/chat_view.hpp"
#include "actors/openenv/text/text_view.hpp"
#include "actors/text/text_environment.hpp"
#include "runtime/config/options_schema.hpp"

namespace troupe {
class metrics_registry;
}

namespace troupe::openenv {

/// The options of such worlds (task.world_options).
struct served_world_options : server_options {
  /// The kind of environment: echo, coding, textarena, tools, openspiel, the name of a game
  /// (text_games), or the path of a description (chat_view_of). Empty means that the first
  /// observation tells it.
  std::string view = {};
  double reply_timeout = 60;  ///< In seconds.
};

void describe(options_schema<served_world_options>& s);

/// True for openenv:URL, openenv:URL,URL, and openenv:NAME where the options start servers.
bool names_servers(std::string_view world);

/// Returns the game whose name is the option `view`, or null. `options` is the JSON of
/// served_world_options. Throws std::invalid_argument for a wrong option.
const text_game* served_game(const std::string& options);

/// Returns the maker of a world on these servers. `options` is the JSON of served_world_options.
/// Throws std::invalid_argument for a wrong address, option or description. A reset throws
/// openenv::error if no server answers, and std::invalid_argument for an environment whose kind
/// the observation doesn't tell.
text_environment_maker worlds_of(std::string_view world, const std::string& options,
                                 metrics_registry* metrics);

/// Begins an episode on the servers, so that an environment that can't be told in words is refused
/// before a run begins. Throws std::invalid_argument for such a one, in the words of a reset, and
/// openenv::error. Blocks.
void require_words(std::string_view world, const std::string& options);

/// Returns the name of the kind of environment that shows such an observation, or an empty text.
std::string kind_of(const nlohmann::json& observation);

/// Reads the description of an environment:
///
///   {"system": "Guess a word of five letters.",
///    "parse": "action",
///    "action": {"guess": "$reply"},
///    "show": "{feedback}\n{attempts} attempts are left."}
///
/// `action` is the environment's action, in which "$reply" stands for the model's reply and
/// "$number" for the last number in it. `show` has the members of the observation in braces.
/// `parse` is how a reply is found in what the model writes: text takes it all, action takes
/// <action>...</action>, tool_call a call of a tool. `system` may be left out. Throws
/// std::invalid_argument that names the member.
chat_view chat_view_of(const nlohmann::json& description);

}  // namespace troupe::openenv

#pragma once
// The actions and observations of OpenEnv's own environments as structs, from `envs/*/models.py` of
// https://github.com/huggingface/OpenEnv. A world is a struct with a name, an action and an
// observation. `any_world` stands for an unknown environment.
//
// Fields that a server fills in by itself are optional here. An empty field is not sent.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "actors/openenv/protocol/fields.hpp"

namespace troupe::openenv {

/// An unknown environment, whose actions and observations are JSON objects.
struct any_world {
  static constexpr const char* name = "any";
  using action = nlohmann::json;
  using observation = nlohmann::json;
};

/// Echoes a message. This is the environment of OpenEnv's template and of its first servers; the
/// current `echo_env` is `tools`.
struct echo {
  static constexpr const char* name = "echo";
  struct action {
    std::string message = {};
  };
  struct observation {
    std::string echoed_message;
    std::int64_t message_length = 0;
  };
};

/// An environment whose actions are calls of MCP tools.
struct tools {
  static constexpr const char* name = "tools";
  struct action {
    std::string type = "call_tool";  ///< Or "list_tools", without the other fields.
    std::optional<std::string> tool_name = {};
    std::optional<nlohmann::json> arguments = {};  ///< A JSON object.
  };
  struct failure {
    std::string error_type;  ///< "tool_not_found", "invalid_args", "execution_error", "timeout", ..
    std::string message;
  };
  /// The observation of a reset is empty.
  struct observation {
    /// The tools after list_tools: names, descriptions, schemas.
    std::optional<nlohmann::json> tools;
    std::optional<std::string> tool_name;
    nlohmann::json result;  ///< {"content":[..],"data":..,"is_error":..}
    std::optional<failure> error;
  };
  static action list() { return {.type = "list_tools"}; }
  static action call(std::string tool, nlohmann::json arguments) {
    return {.tool_name = std::move(tool), .arguments = std::move(arguments)};
  }
};

/// Runs Python code.
struct coding {
  static constexpr const char* name = "coding";
  struct action {
    std::string code = {};
  };
  struct observation {
    std::string stdout_text;  ///< The field "stdout", a name that <cstdio> may define as a macro.
    std::string stderr_text;
    std::int64_t exit_code = 0;
  };
};

/// A game of OpenSpiel for one player; the server plays the others.
struct openspiel {
  static constexpr const char* name = "openspiel";
  struct action {
    std::int64_t action_id = 0;
  };
  struct observation {
    std::vector<float> info_state;
    std::vector<std::int64_t> legal_actions;
    std::string game_phase;              ///< "initial", "playing", "terminal".
    std::int64_t current_player_id = 0;  ///< -4 means that the game is over.
    std::optional<std::int64_t> opponent_last_action;
  };
};

/// An Atari game.
struct atari {
  static constexpr const char* name = "atari";
  struct action {
    std::int64_t action_id = 0;  ///< An index into legal_actions.
  };
  struct observation {
    std::vector<std::uint8_t> screen;        ///< The pixels, row-major.
    std::vector<std::int64_t> screen_shape;  ///< [210, 160, 3], [210, 160], or [128] for memory.
    std::vector<std::int64_t> legal_actions;
    std::int64_t lives = 0;
    std::int64_t episode_frame_number = 0;
    std::int64_t frame_number = 0;
  };
};

/// Connect four, where the client plays both players.
struct connect4 {
  static constexpr const char* name = "connect4";
  struct action {
    std::int64_t column = 0;
  };
  struct observation {
    std::vector<std::vector<std::int64_t>> board;  ///< [6, 7] of 1, -1 and 0.
    std::vector<std::int64_t> legal_actions;
  };
};

/// A game in words.
struct textarena {
  static constexpr const char* name = "textarena";
  struct action {
    std::string message = {};
  };
  struct message {
    std::int64_t sender_id = 0;  ///< -1 means the game itself.
    std::string content;
    std::string category;
  };
  struct observation {
    std::string prompt;
    std::vector<message> messages;
    std::int64_t current_player_id = 0;
    std::vector<std::int64_t> legal_players;
    nlohmann::json info;
  };
};

/// Runs git commands in a repository of the server.
struct git {
  static constexpr const char* name = "git";
  struct action {
    std::string action_type = {};  ///< One of "list_repos", "clone_repo", "execute_git_command".
    std::optional<std::string> repo_name = {};
    std::optional<std::string> target_dir = {};
    std::optional<std::string> command = {};  ///< The command without "git".
    std::optional<std::string> working_dir = {};
  };
  struct observation {
    bool success = false;
    std::string message;
    std::string output;
    std::string error;
    nlohmann::json repos;
  };
};

/// A web browser.
struct browsergym {
  static constexpr const char* name = "browsergym";
  struct action {
    std::string action_str = {};  ///< An action such as `click('12')`.
  };
  struct observation {
    std::string text;
    std::string url;
    nlohmann::json screenshot;  ///< A nested list [H, W, C], or null.
    std::string goal;
    std::string axtree_txt;
    std::string pruned_html;
    std::string error;
    bool last_action_error = false;
  };
};

/// A conversation in tokens.
struct chat {
  static constexpr const char* name = "chat";
  struct action {
    std::vector<std::int64_t> tokens = {};  ///< At least one token.
  };
  struct message {
    std::string role;
    std::string content;
  };
  struct observation {
    std::vector<message> messages;
    std::vector<std::int64_t> tokens;
  };
};

void describe(fields<echo::action>& f);
void describe(fields<echo::observation>& f);
void describe(fields<tools::action>& f);
void describe(fields<tools::failure>& f);
void describe(fields<tools::observation>& f);
void describe(fields<coding::action>& f);
void describe(fields<coding::observation>& f);
void describe(fields<openspiel::action>& f);
void describe(fields<openspiel::observation>& f);
void describe(fields<atari::action>& f);
void describe(fields<atari::observation>& f);
void describe(fields<connect4::action>& f);
void describe(fields<connect4::observation>& f);
void describe(fields<textarena::action>& f);
void describe(fields<textarena::message>& f);
void describe(fields<textarena::observation>& f);
void describe(fields<git::action>& f);
void describe(fields<git::observation>& f);
void describe(fields<browsergym::action>& f);
void describe(fields<browsergym::observation>& f);
void describe(fields<chat::action>& f);
void describe(fields<chat::message>& f);
void describe(fields<chat::observation>& f);

}  // namespace troupe::openenv

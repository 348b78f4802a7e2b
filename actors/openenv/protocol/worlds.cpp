#include "actors/openenv/protocol/worlds.hpp"

namespace troupe::openenv {

void describe(fields<echo::action>& f) { f.field("message", &echo::action::message); }
void describe(fields<echo::observation>& f) {
  f.field("echoed_message", &echo::observation::echoed_message);
  f.field("message_length", &echo::observation::message_length);
}

void describe(fields<tools::action>& f) {
  f.field("type", &tools::action::type);
  f.field("tool_name", &tools::action::tool_name);
  f.field("arguments", &tools::action::arguments);
}
void describe(fields<tools::failure>& f) {
  f.field("error_type", &tools::failure::error_type);
  f.field("message", &tools::failure::message);
}
void describe(fields<tools::observation>& f) {
  f.field("tools", &tools::observation::tools);
  f.field("tool_name", &tools::observation::tool_name);
  f.field_or_default("result", &tools::observation::result);
  f.field("error", &tools::observation::error);
}

void describe(fields<coding::action>& f) { f.field("code", &coding::action::code); }
void describe(fields<coding::observation>& f) {
  f.field("stdout", &coding::observation::stdout_text);
  f.field("stderr", &coding::observation::stderr_text);
  f.field("exit_code", &coding::observation::exit_code);
}

void describe(fields<openspiel::action>& f) { f.field("action_id", &openspiel::action::action_id); }
void describe(fields<openspiel::observation>& f) {
  f.field("info_state", &openspiel::observation::info_state);
  f.field("legal_actions", &openspiel::observation::legal_actions);
  f.field("game_phase", &openspiel::observation::game_phase);
  f.field("current_player_id", &openspiel::observation::current_player_id);
  f.field("opponent_last_action", &openspiel::observation::opponent_last_action);
}

void describe(fields<atari::action>& f) { f.field("action_id", &atari::action::action_id); }
void describe(fields<atari::observation>& f) {
  f.field("screen", &atari::observation::screen);
  f.field("screen_shape", &atari::observation::screen_shape);
  f.field("legal_actions", &atari::observation::legal_actions);
  f.field("lives", &atari::observation::lives);
  f.field("episode_frame_number", &atari::observation::episode_frame_number);
  f.field("frame_number", &atari::observation::frame_number);
}

void describe(fields<connect4::action>& f) { f.field("column", &connect4::action::column); }
void describe(fields<connect4::observation>& f) {
  f.field("board", &connect4::observation::board);
  f.field("legal_actions", &connect4::observation::legal_actions);
}

void describe(fields<textarena::action>& f) { f.field("message", &textarena::action::message); }
void describe(fields<textarena::message>& f) {
  f.field("sender_id", &textarena::message::sender_id);
  f.field("content", &textarena::message::content);
  f.field_or_default("category", &textarena::message::category);
}
void describe(fields<textarena::observation>& f) {
  f.field("prompt", &textarena::observation::prompt);
  f.field("messages", &textarena::observation::messages);
  f.field_or_default("current_player_id", &textarena::observation::current_player_id);
  f.field_or_default("legal_players", &textarena::observation::legal_players);
  f.field_or_default("info", &textarena::observation::info);
}

void describe(fields<git::action>& f) {
  f.field("action_type", &git::action::action_type);
  f.field("repo_name", &git::action::repo_name);
  f.field("target_dir", &git::action::target_dir);
  f.field("command", &git::action::command);
  f.field("working_dir", &git::action::working_dir);
}
void describe(fields<git::observation>& f) {
  f.field("success", &git::observation::success);
  f.field_or_default("message", &git::observation::message);
  f.field_or_default("output", &git::observation::output);
  f.field_or_default("error", &git::observation::error);
  f.field_or_default("repos", &git::observation::repos);
}

void describe(fields<browsergym::action>& f) {
  f.field("action_str", &browsergym::action::action_str);
}
void describe(fields<browsergym::observation>& f) {
  f.field("text", &browsergym::observation::text);
  f.field_or_default("url", &browsergym::observation::url);
  f.field_or_default("screenshot", &browsergym::observation::screenshot);
  f.field_or_default("goal", &browsergym::observation::goal);
  f.field_or_default("axtree_txt", &browsergym::observation::axtree_txt);
  f.field_or_default("pruned_html", &browsergym::observation::pruned_html);
  f.field_or_default("error", &browsergym::observation::error);
  f.field_or_default("last_action_error", &browsergym::observation::last_action_error);
}

void describe(fields<chat::action>& f) { f.field("tokens", &chat::action::tokens); }
void describe(fields<chat::message>& f) {
  f.field("role", &chat::message::role);
  f.field("content", &chat::message::content);
}
void describe(fields<chat::observation>& f) {
  f.field("messages", &chat::observation::messages);
  f.field("tokens", &chat::observation::tokens);
}

}  // namespace troupe::openenv

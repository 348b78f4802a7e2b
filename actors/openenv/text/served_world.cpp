#include "actors/openenv/text/served_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "actors/openenv/client/waiting.hpp"
#include "actors/reward/text_reward.hpp"
#include "runtime/config/config.hpp"
#include "runtime/config/json_text.hpp"

namespace troupe::openenv {

using nlohmann::json;

namespace {

// ---- descriptions -----------------------------------------------------------------------------

[[noreturn]] void refuse(const char* member, const char* expected, const json& got) {
  throw std::invalid_argument(fmt::format("a world's description: {}: expected {}, got {}", member,
                                          expected, troupe::detail::show(got)));
}

const json& member_of(const json& description, const char* name) {
  static const json null;
  const auto found = description.find(name);
  return found == description.end() ? null : *found;
}

std::string text_at(const json& description, const char* name) {
  const auto& value = member_of(description, name);
  if (value.is_null()) return {};
  if (!value.is_string()) refuse(name, "a text", value);
  return value.get<std::string>();
}

json number_in(const std::string& reply) {
  const auto number = last_number(reply);
  if (!number) throw std::invalid_argument("expected a number");
  const bool is_whole = std::floor(*number) == *number && std::abs(*number) < 1e15;
  return is_whole ? json(static_cast<std::int64_t>(*number)) : json(*number);
}

/// The action with the reply in place of "$reply" and "$number".
json filled(const json& pattern, const std::string& reply) {
  if (pattern == "$reply") return reply;
  if (pattern == "$number") return number_in(reply);
  if (!pattern.is_structured()) return pattern;
  auto made = pattern;
  for (auto& value : made) value = filled(value, reply);
  return made;
}

/// The text with the members of the observation in place of their names in braces.
std::string shown(const std::string& pattern, const json& observation) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const auto end = pattern[i] == '{' ? pattern.find('}', i) : pattern.npos;
    if (end == pattern.npos) {
      text += pattern[i];
      continue;
    }
    const auto name = pattern.substr(i + 1, end - i - 1);
    const auto found = observation.find(name);
    if (found == observation.end())
      throw std::runtime_error(fmt::format("expected the member \"{}\" in the observation, got {}",
                                           name, troupe::detail::show(observation)));
    text += found->is_string() ? found->get<std::string>() : found->dump();
    i = end;
  }
  return text;
}

json read_description(const std::string& path) {
  if (std::error_code ignored; !std::filesystem::exists(path, ignored))
    throw std::invalid_argument(
        "world_options.view: expected echo, coding, textarena, tools, "
        "openspiel, the name of a game or a readable file, got \"" +
        path + '"');
  return read_json_file(path);
}

// ---- the world ---------------------------------------------------------------------------------

/// The environment of a session that other objects share.
class shared_session final : public json_world {
 public:
  explicit shared_session(std::shared_ptr<session> of) : session_(std::move(of)) {}
  task<result> reset(json with) override { return session_->reset(std::move(with)); }
  task<result> step(json action) override { return session_->step(std::move(action)); }
  void end_episode() override { session_->end_episode(); }

 private:
  std::shared_ptr<session> session_;
};

std::unique_ptr<text_environment> play_by(chat_view view, std::shared_ptr<session> of) {
  return chat_environments(std::move(view),
                           [of] { return std::make_unique<shared_session>(of); })();
}

/// The texts of an observation of a game and of its metadata, such as a drawing of the board.
std::string texts_in(const json& observation) {
  std::string texts;
  const auto add = [&](const json& members) {
    if (!members.is_object()) return;
    for (const auto& [name, value] : members.items())
      if (value.is_string() && !value.get_ref<const std::string&>().empty() && name != "game_phase")
        texts += value.get<std::string>() + '\n';
  };
  add(observation);
  add(observation.value("metadata", json()));
  return texts;
}

/// The view of a game of OpenSpiel that is not known by name: its actions are numbers, and its
/// board is what the server tells in words, or else the numbers of info_state.
chat_view numbered_actions() {
  return {
      .system_prompt = "You play a game. Answer with the number of a legal action alone.",
      .parse = parse_whole_text,
      .act = [](const text_action& what) { return json{{"action_id", number_in(what.action)}}; },
      .show =
          [](const result& from) {
            auto board = texts_in(from.observation);
            if (board.empty())
              board = "info_state: " + from.observation.value("info_state", json()).dump() + '\n';
            const auto legal = from.observation.value("legal_actions", json::array());
            return board + "Legal actions: " + legal.dump();
          }};
}

std::string known_game_names() {
  std::string names;
  for (const auto& game : text_games()) names += (names.empty() ? "" : ", ") + game.name;
  return names;
}

/// Returns the list of an environment's MCP tools, or an empty one if it has none.
task<json> tools_of(session& in) {
  json request{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/list"}, {"params", json::object()}};
  try {
    const auto told = co_await in.mcp(std::move(request));
    const json::json_pointer at("/result/tools");
    if (told.contains(at) && told[at].is_array()) co_return told[at];
  } catch (const error& e) {
    // A server that does not know the message answers with an error, or as to another message.
    if (!keeps_session(e.reason()) && e.reason() != failure::unexpected) throw;
  }
  co_return json::array();
}

std::unique_ptr<text_environment> environment_by(const std::string& view, const json& tools,
                                                 std::shared_ptr<session> of) {
  if (view == "echo") return play_by(echo_chat_view(), std::move(of));
  if (view == "coding") return play_by(coding_chat_view(), std::move(of));
  if (view == "textarena") return play_by(textarena_chat_view(), std::move(of));
  if (view == "tools") return play_by(tools_chat_view(tools), std::move(of));
  if (view == "openspiel") return play_by(numbered_actions(), std::move(of));
  if (const auto* game = find_text_game(view))
    return text_environment_of(*game, [of] { return std::make_unique<shared_session>(of); }).make();
  return play_by(chat_view_of(read_description(view)), std::move(of));
}

class served_world final : public text_environment {
 public:
  served_world(session of, std::string view)
      : session_(std::make_shared<session>(std::move(of))), view_(std::move(view)) {
    // The list of tools comes from the server, at the first reset.
    if (!view_.empty() && view_ != "tools") played_ = environment_by(view_, json(), session_);
  }

  task<text_step> reset(const text_reset& with) override {
    if (!played_) co_await find_view(with.seed);
    co_return co_await played_->reset(with);
  }
  task<text_step> step(std::string reply) override {
    co_return co_await played_->step(std::move(reply));
  }
  void end_episode() override { session_->end_episode(); }

 private:
  task<> find_view(std::uint64_t seed) {
    json arguments{{"seed", seed}};
    const auto first = co_await session_->reset(std::move(arguments));
    auto view = view_.empty() ? kind_of(first.observation) : view_;
    if (view == "openspiel") {
      const auto state = co_await session_->state();
      view = game_in(state, first.observation);
    }
    json tools = json::array();
    if (view.empty() || view == "tools") tools = co_await tools_of(*session_);
    if (view.empty() && !tools.empty()) view = "tools";
    if (view == "tools" && tools.empty())
      throw std::invalid_argument("expected MCP tools, got an environment that lists none");
    if (view.empty())
      throw std::invalid_argument(
          "expected an observation of echo, coding, textarena, tools or openspiel, or the option "
          "task.world_options={\"view\": \"FILE.json\"} with a description, got " +
          troupe::detail::show(first.observation));
    played_ = environment_by(view, tools, session_);
  }

  /// Returns the view of a game of OpenSpiel. Throws if its board can't be told.
  static std::string game_in(const json& state, const json& observation) {
    const auto told = state.value("game_name", json());
    const auto name = told.is_string() ? told.get<std::string>() : std::string();
    if (find_text_game(name)) return name;
    if (!texts_in(observation).empty()) return "openspiel";
    throw std::invalid_argument(fmt::format(
        "the board of OpenSpiel's game \"{}\" can't be told in words, for the server sends only "
        "numbers: expected one of {}, or the option task.world_options={{\"view\": "
        "\"openspiel\"}}, "
        "which shows the numbers of info_state and of the legal actions",
        name, known_game_names()));
  }

  std::shared_ptr<session> session_;
  const std::string view_;
  std::unique_ptr<text_environment> played_;
};

}  // namespace

void describe(options_schema<served_world_options>& s) {
  s.field("view", &served_world_options::view)
      .help(
          "The kind of environment: echo, coding, textarena, tools, openspiel, the name of a game, "
          "or the path of a description in JSON. Empty means that the first observation tells it.");
  describe_servers(s);
  s.field("reply_timeout", &served_world_options::reply_timeout)
      .above(0)
      .at_most(86'400)
      .unit("seconds")
      .help("How long a reply of a server may take.");
}

bool names_servers(std::string_view world) { return world.starts_with(server_prefix); }

namespace {

served_world_options options_in(const std::string& options) {
  try {
    return parse_config<served_world_options>(parse_json(options, "task.world_options"));
  } catch (const config_error& error) {
    throw std::invalid_argument(std::string("task.world_options") + error.what());
  }
}

}  // namespace

const text_game* served_game(const std::string& options) {
  return find_text_game(options_in(options).view);
}

text_environment_maker worlds_of(std::string_view world, const std::string& options,
                                 metrics_registry* metrics) {
  const auto chosen = options_in(options);
  auto servers = servers_of(world, chosen, "task.world_options");
  servers.named_by.reply = "task.world_options.reply_timeout";
  servers.reply_timeout = std::chrono::ceil<std::chrono::milliseconds>(
      std::chrono::duration<double>(chosen.reply_timeout));
  const client games(std::move(servers), metrics);
  return [games, view = chosen.view] { return std::make_unique<served_world>(games.open(), view); };
}

namespace {

task<> begin_once(std::unique_ptr<text_environment> world) { co_await world->reset({}); }

}  // namespace

void require_words(std::string_view world, const std::string& options) {
  run_here(begin_once(worlds_of(world, options, nullptr)()));
}

std::string kind_of(const json& observation) {
  const auto has = [&](const char* name) { return observation.contains(name); };
  if (!observation.is_object()) return {};
  if (has("echoed_message")) return "echo";
  if (has("stdout") && has("exit_code")) return "coding";
  if (has("prompt") && has("messages") && has("current_player_id")) return "textarena";
  if (has("info_state") && has("legal_actions")) return "openspiel";
  if (has("tools") || has("tool_name")) return "tools";
  return {};
}

chat_view chat_view_of(const json& description) {
  if (!description.is_object())
    throw std::invalid_argument("a world's description: expected an object, got " +
                                troupe::detail::show(description));
  constexpr std::array known{"system", "parse", "action", "show"};
  for (const auto& [name, value] : description.items())
    if (std::ranges::find(known, name) == known.end())
      refuse(name.c_str(), "system, parse, action or show as the name", value);
  const auto& action = member_of(description, "action");
  if (!action.is_object()) refuse("action", "an object", action);
  const auto pattern = text_at(description, "show");
  if (pattern.empty()) refuse("show", "a text", member_of(description, "show"));
  chat_view view{
      .system_prompt = text_at(description, "system"),
      .act = [action](const text_action& what) { return filled(action, what.action); },
      .show = [pattern](const result& from) { return shown(pattern, from.observation); }};
  const auto parse = description.value("parse", json("text"));
  if (parse == "text") {
    view.parse = parse_whole_text;
  } else if (parse == "tool_call") {
    view.parse = parse_tool_call;
  } else if (parse != "action") {
    refuse("parse", "text, action or tool_call", parse);
  }
  return view;
}

}  // namespace troupe::openenv

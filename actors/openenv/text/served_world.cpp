#include "actors/openenv/text/served_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "actors/reward/text_reward.hpp"
#include "runtime/config/config.hpp"
#include "runtime/config/json_text.hpp"

namespace troupe::openenv {

using nlohmann::json;

namespace {

constexpr std::string_view prefix = "openenv:";

std::vector<std::string> urls_of(std::string_view world) {
  std::vector<std::string> urls{""};
  for (const char c : world.substr(prefix.size())) {
    if (c == ',') {
      urls.emplace_back();
    } else {
      urls.back() += c;
    }
  }
  return urls;
}

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
  std::ifstream file(path);
  if (!file)
    throw std::invalid_argument(
        "world_options.view: expected echo, coding, textarena, tools, "
        "openspiel, the name of a game or a readable file, got \"" +
        path + '"');
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return parse_json(text, path);
}

// ---- the world ---------------------------------------------------------------------------------

/// The environment of a session that other objects share.
class shared_session final : public json_world {
 public:
  explicit shared_session(std::shared_ptr<session> of) : session_(std::move(of)) {}
  task<result> reset(json with) override { return session_->reset(std::move(with)); }
  task<result> step(json action) override { return session_->step(std::move(action)); }

 private:
  std::shared_ptr<session> session_;
};

std::unique_ptr<text_environment> play_by(chat_view view, std::shared_ptr<session> of) {
  return chat_environments(std::move(view),
                           [of] { return std::make_unique<shared_session>(of); })();
}

/// The view of a game of OpenSpiel that is not known by name: its actions are numbers.
chat_view numbered_actions() {
  return {
      .system_prompt = "You play a game. Answer with the number of a legal action alone.",
      .parse = parse_whole_text,
      .act = [](const text_action& what) { return json{{"action_id", number_in(what.action)}}; },
      .show =
          [](const result& from) {
            const auto legal = from.observation.value("legal_actions", json::array());
            return "Legal actions: " + legal.dump();
          }};
}

std::unique_ptr<text_environment> environment_by(const std::string& view,
                                                 std::shared_ptr<session> of) {
  if (view == "echo") return play_by(echo_chat_view(), std::move(of));
  if (view == "coding") return play_by(coding_chat_view(), std::move(of));
  if (view == "textarena") return play_by(textarena_chat_view(), std::move(of));
  if (view == "tools") return play_by(tools_chat_view(), std::move(of));
  if (view == "openspiel") return play_by(numbered_actions(), std::move(of));
  if (const auto* game = find_text_game(view))
    return text_environment_of(*game, [of] { return std::make_unique<shared_session>(of); }).make();
  return play_by(chat_view_of(read_description(view)), std::move(of));
}

class served_world final : public text_environment {
 public:
  served_world(session of, std::string view)
      : session_(std::make_shared<session>(std::move(of))), view_(std::move(view)) {
    if (!view_.empty()) played_ = environment_by(view_, session_);
  }

  task<text_step> reset(const text_reset& with) override {
    if (!played_) co_await find_view(with.seed);
    co_return co_await played_->reset(with);
  }
  task<text_step> step(std::string reply) override {
    co_return co_await played_->step(std::move(reply));
  }

 private:
  task<> find_view(std::uint64_t seed) {
    json arguments{{"seed", seed}};
    const auto first = co_await session_->reset(std::move(arguments));
    view_ = kind_of(first.observation);
    if (view_ == "openspiel") {
      const auto state = co_await session_->state();
      const auto name = state.value("game_name", "");
      if (find_text_game(name)) view_ = name;
    }
    if (view_.empty())
      throw std::invalid_argument(
          "expected an observation of echo, coding, textarena, tools or openspiel, or the option "
          "task.world_options={\"view\": \"FILE.json\"} with a description, got " +
          troupe::detail::show(first.observation));
    played_ = environment_by(view_, session_);
  }

  std::shared_ptr<session> session_;
  std::string view_;
  std::unique_ptr<text_environment> played_;
};

}  // namespace

void describe(options_schema<served_world_options>& s) {
  s.field("view", &served_world_options::view)
      .help(
          "The kind of environment: echo, coding, textarena, tools, openspiel, the name of a game, "
          "or the path of a description in JSON. Empty means that the first observation tells it.");
  s.field("connect_timeout", &served_world_options::connect_timeout)
      .above(0)
      .at_most(86'400)
      .unit("seconds")
      .help("How long connecting to a server may take.");
  s.field("reply_timeout", &served_world_options::reply_timeout)
      .above(0)
      .at_most(86'400)
      .unit("seconds")
      .help("How long a reply of a server may take.");
}

bool names_servers(std::string_view world) { return world.starts_with(prefix); }

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
  const auto in_ms = [](double seconds) {
    return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
  };
  const client games({.urls = urls_of(world),
                      .connect_timeout = in_ms(chosen.connect_timeout),
                      .reply_timeout = in_ms(chosen.reply_timeout)},
                     metrics);
  return [games, view = chosen.view] { return std::make_unique<served_world>(games.open(), view); };
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

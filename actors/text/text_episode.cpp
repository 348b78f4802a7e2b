#include "actors/text/text_episode.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "actors/data/jsonl.hpp"
#include "actors/text/text_action.hpp"
#include "runtime/config/json_text.hpp"

namespace troupe {

using nlohmann::json;

namespace {

std::string text_at(const json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || at->is_null()) return {};
  if (!at->is_string())
    throw std::invalid_argument(std::string("/") + key + ": expected a text, got " +
                                detail::show(*at));
  return *at;
}

conversation prompt_of(const json& object) {
  const auto at = object.find("prompt");
  if (at == object.end() || at->is_null()) return {};
  if (at->is_string()) return {{"user", *at}};
  if (!at->is_array())
    throw std::invalid_argument("/prompt: expected a text or a list of messages, got " +
                                detail::show(*at));
  conversation made;
  for (const auto& message : *at) {
    if (!message.is_object() || !message.contains("role") || !message.contains("content"))
      throw std::invalid_argument("/prompt: expected messages with \"role\" and \"content\", got " +
                                  detail::show(message));
    made.push_back({text_at(message, "role"), text_at(message, "content")});
  }
  return made;
}

void require_in_range(const text_limits& limits) {
  const auto refuse = [](const char* name, const char* expected, std::int64_t got) {
    throw std::invalid_argument(std::string("text episode: ") + name + ": expected " + expected +
                                ", got " + std::to_string(got));
  };
  if (limits.turns_max < 1) refuse("turns_max", "at least 1", limits.turns_max);
  if (limits.tokens_max < 0) refuse("tokens_max", "at least 0", limits.tokens_max);
}

}  // namespace

text_task to_text_task(const json& object) {
  text_task made;
  made.prompt = prompt_of(object);
  made.world = text_at(object, "env_name");
  made.expected = text_at(object, "expected");
  if (const auto at = object.find("reset"); at != object.end()) {
    if (!at->is_object() && !at->is_null())
      throw std::invalid_argument("/reset: expected an object, got " + detail::show(*at));
    made.reset = *at;
  }
  return made;
}

std::vector<text_task> read_text_tasks(const std::filesystem::path& path) {
  return read_jsonl<text_task>(path, to_text_task);
}

std::string text_episode::answer() const {
  const auto& last = turns.back().written.text;
  auto action = parse_action(last);
  return action.well_formed() ? std::move(action.action) : last;
}

task<text_episode> play_text_episode(text_environment& world, text_task item, text_writer write,
                                     text_limits limits) {
  require_in_range(limits);
  const json arguments = item.reset.is_null() ? json::object() : item.reset;
  const text_reset with{.seed = arguments.value("seed", std::uint64_t{0}),
                        .item = json{{"reset", arguments}}.dump()};
  const auto first = co_await world.reset(with);
  text_episode played;
  if (!first.system.empty()) played.said.push_back({"system", first.system});
  for (const auto& message : item.prompt) played.said.push_back(message);
  played.said.push_back({"user", first.shown.words});
  played.task = std::move(item);

  for (std::int64_t tokens = 0;;) {
    auto written = co_await write(played.said);
    tokens += written.tokens;
    played.said.push_back({"assistant", written.text});
    played.version =
        played.turns.empty() ? written.version : std::min(played.version, written.version);
    const auto answer = co_await world.step(written.text);
    const bool refused = !answer.refused.empty();
    const double reward = refused ? limits.malformed_reward : answer.reward;
    played.world_return += reward;
    played.turns.push_back({std::move(written), answer.refused, reward});
    played.said.push_back(
        {"user", refused ? "That was no action: " + answer.refused : answer.shown.words});
    if (!refused && answer.ended) co_return played;
    std::optional<text_end> end;
    if (refused && limits.malformed == malformed_rule::end)
      end = text_end::malformed;
    else if (std::ssize(played.turns) >= limits.turns_max)
      end = text_end::turns;
    else if (limits.tokens_max > 0 && tokens >= limits.tokens_max)
      end = text_end::tokens;
    if (!end) continue;
    world.end_episode();
    played.end = *end;
    co_return played;
  }
}

}  // namespace troupe

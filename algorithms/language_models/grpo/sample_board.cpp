#include "algorithms/language_models/grpo/sample_board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "actors/recorder/quartiles.hpp"
#include "actors/recorder/score_text.hpp"

namespace troupe {
namespace {

using nlohmann::json;

constexpr std::size_t shown_bytes_max = 4000;
constexpr std::size_t shown_turns_max = 50;

std::string cut(const std::string& text) {
  return text.size() <= shown_bytes_max ? text : text.substr(0, shown_bytes_max) + " ...";
}

std::string note_on(const answer_turn& turn) {
  auto note = fmt::format("reward {}, {} tokens, version {}", score_text(turn.reward), turn.tokens,
                          turn.first_version);
  if (turn.last_version != turn.first_version) note += fmt::format(" to {}", turn.last_version);
  if (turn.refused) note += ", refused";
  if (turn.shared) note += ", shared and not trained on";
  return note;
}

json conversation_of(const char* which, const answer_group& group, const sampled_answer& answer) {
  json turns = json::array();
  if (answer.turns.empty()) {
    if (group.asked.messages.size() < 2)
      turns.push_back({"prompt", cut(group.asked.question), ""});
    else
      for (const auto& said : group.asked.messages)
        turns.push_back({said.role, cut(said.content), said.fields});
    turns.push_back({"model", cut(answer.text), fmt::format("{} tokens", answer.sampled_tokens())});
  }
  for (const auto& turn : answer.turns) {
    if (turns.size() >= 2 * shown_turns_max) {
      turns.push_back({"", fmt::format("{} turns in all", answer.turns.size()), ""});
      break;
    }
    turns.push_back({"world", cut(turn.shown), ""});
    turns.push_back({"model", cut(turn.said), note_on(turn)});
  }
  return {{"heading", fmt::format("{}: reward {}{}", which, score_text(answer.reward),
                                  answer.truncated ? ", truncated" : "")},
          {"turns", std::move(turns)}};
}

json row_of(const char* name, std::vector<double> values) {
  json row{name};
  for (const double each : quartiles(std::move(values))) row.push_back(score_text(each));
  return row;
}

}  // namespace

std::string sample_board(const std::vector<answer_group>& groups, std::int64_t update,
                         std::int64_t version) {
  json board;
  std::vector<double> rewards, lengths, staleness;
  std::map<std::string, std::int64_t> dropped;
  for (const auto& group : groups) {
    for (const auto& answer : group.answers) {
      rewards.push_back(answer.reward);
      lengths.push_back(double(answer.sampled_tokens()));
    }
    staleness.push_back(double(version - group.version));
    for (const auto& [reason, count] : group.dropped) dropped[reason] += count;
  }
  if (rewards.empty()) return "{}";
  const auto& group =
      *std::ranges::find_if(groups, [](const answer_group& each) { return !each.answers.empty(); });
  const auto [worst, best] =
      std::ranges::minmax_element(group.answers, {}, &sampled_answer::reward);
  board["conversations"] = {
      {"heading", fmt::format("A group of update {}", update)},
      {"items", {conversation_of("best", group, *best), conversation_of("worst", group, *worst)}}};
  json rows{row_of("reward", std::move(rewards)), row_of("tokens", std::move(lengths)),
            row_of("staleness", std::move(staleness))};
  for (const auto& [reason, count] : dropped)
    rows.push_back({"dropped: " + reason, "", "", "", "", std::to_string(count)});
  board["table"] = {{"heading", fmt::format("Answers of update {}", update)},
                    {"columns", {"", "least", "25 %", "median", "75 %", "most"}},
                    {"rows", std::move(rows)}};
  return board.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace troupe

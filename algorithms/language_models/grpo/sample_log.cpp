#include "algorithms/language_models/grpo/sample_log.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace troupe {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const answer_turn& turn) {
  ordered_json made{{"shown", turn.shown},
                    {"said", turn.said},
                    {"reward", turn.reward},
                    {"tokens", turn.tokens},
                    {"versions", {turn.first_version, turn.last_version}},
                    {"trained", !turn.shared}};
  if (turn.refused) made["refused"] = true;
  return made;
}

ordered_json to_json(const sampled_answer& a, double advantage) {
  ordered_json made{{"text", a.text},
                    {"reward", a.reward},
                    {"advantage", advantage},
                    {"tokens", a.sampled_tokens()},
                    {"truncated", a.truncated}};
  for (const auto& turn : a.turns) made["turns"].push_back(to_json(turn));
  return made;
}

/// The messages of a conversation, each with its role, its content and its further fields.
ordered_json messages_of(const llm::problem& asked) {
  auto made = ordered_json::array();
  for (const auto& [role, content, fields] : asked.messages) {
    ordered_json message{{"role", role}, {"content", content}};
    if (!fields.empty()) message.update(ordered_json::parse(fields));
    made.push_back(std::move(message));
  }
  return made;
}

template <class Part>
ordered_json tokens_of_part(const Part& part) {
  ordered_json read = ordered_json::array();
  for (const auto& range : part.read) read.push_back({range.begin, range.end});
  return {{"tokens", part.tokens}, {"read", std::move(read)}, {"log_probs", part.log_probs}};
}

/// What an answer is trained on.
ordered_json tokens_of(const sampled_answer& a, double advantage) {
  auto made = tokens_of_part(a);
  made["advantage"] = advantage;
  for (const auto& part : a.earlier) made["earlier"].push_back(tokens_of_part(part));
  return made;
}

}  // namespace

sample_log::sample_log(std::filesystem::path path, std::int64_t size) : path_(std::move(path)) {
  if (size > 0) file_ = append_file::reopen_lines(path_, size);
}

void sample_log::add(std::int64_t update, std::int64_t version,
                     const std::vector<answer_group>& groups,
                     const std::vector<std::vector<double>>& advantages,
                     const std::vector<std::string>& tasks, bool with_tokens,
                     const note_function& note) {
  std::string lines;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto& group = groups[g];
    if (group.answers.empty()) continue;
    const auto [worst, best] =
        std::ranges::minmax_element(group.answers, {}, &sampled_answer::reward);
    double mean = 0.0;
    for (const auto& a : group.answers) mean += a.reward / double(group.answers.size());
    const auto shown = [&](auto which) {
      const auto i = static_cast<std::size_t>(which - group.answers.begin());
      auto made = to_json(*which, g < advantages.size() ? advantages[g][i] : 0.0);
      if (const auto text = note ? note(group, *which) : std::string(); !text.empty())
        made["note"] = text;
      return made;
    };
    ordered_json line{{"update", update},
                      {"prompt", group.drawn},
                      {"staleness", version - group.version},
                      {"question", group.asked.question},
                      {"expected", group.asked.expected},
                      {"answers", group.answers.size()},
                      {"reward_mean", mean},
                      {"best", shown(best)},
                      {"worst", shown(worst)}};
    // The question is the last message alone.
    if (group.asked.messages.size() > 1) line["messages"] = messages_of(group.asked);
    for (const auto& a : group.answers) {
      line["rewards"].push_back(a.reward);
      line["lengths"].push_back(a.sampled_tokens());
    }
    if (!group.dropped.empty()) line["dropped"] = group.dropped;
    if (with_tokens) {
      line["prompt_tokens"] = group.prompt;
      for (std::size_t i = 0; i < group.answers.size(); ++i)
        line["tokens"].push_back(
            tokens_of(group.answers[i], g < advantages.size() ? advantages[g][i] : 0.0));
    }
    if (!tasks.empty()) line["task"] = tasks.at(group.task);
    // A model's text is UTF-8, except that the token limit may have cut its last character.
    lines += line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
  }
  if (lines.empty()) return;
  if (!file_) file_.emplace(path_);
  file_->append(lines);
}

}  // namespace troupe

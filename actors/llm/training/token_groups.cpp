#include "actors/torch/torch.hpp"

#include "actors/llm/training/token_groups.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace troupe::llm {
namespace {

using index = std::int64_t;

void append(packed_tokens& to, std::span<const token_id> document, index parent) {
  to.ids.insert(to.ids.end(), document.begin(), document.end());
  to.lengths.push_back(index(document.size()));
  to.parents.push_back(parent);
}

/// The number of tokens at the beginning that all prompts share, such as those of a system prompt.
/// Each prompt keeps at least one token of its own, from which its answers continue.
std::size_t common_prefix(std::span<const token_group> groups) {
  if (groups.size() < 2) return 0;
  const auto& first = groups.front().prompt;
  auto common = first.size();
  for (const auto& group : groups) {
    const auto& prompt = group.prompt;
    const auto end = std::ranges::mismatch(first, prompt).in2;
    common = std::min({common, std::size_t(end - prompt.begin()), prompt.size() - 1});
  }
  return common;
}

/// Adds the scored tokens of an answer that begins at row `begin` of the pack. The first is
/// predicted from the row `before`. Returns false if `read` isn't in order, isn't within the answer
/// or leaves no token to score.
bool add_targets(target_tokens& to, const std::vector<token_id>& answer,
                 std::span<const token_range> read, index before, index begin) {
  const auto scored_before = to.ids.size();
  index next = 0;
  const auto score_until = [&](index end) {
    for (; next < end; ++next) {
      to.ids.push_back(answer[std::size_t(next)]);
      to.rows.push_back(next == 0 ? before : begin + next - 1);
    }
  };
  for (const auto& range : read) {
    if (range.begin < next || range.end <= range.begin || range.end > index(answer.size()))
      return false;
    score_until(range.begin);
    next = range.end;
  }
  score_until(index(answer.size()));
  return to.ids.size() > scored_before;
}

[[noreturn]] void refuse(std::size_t group, const std::string& what) {
  throw std::invalid_argument("token group " + std::to_string(group) + ": expected " + what);
}

}  // namespace

void share_prompt(token_group& group) {
  if (group.answers.empty() || group.read.size() != group.answers.size()) return;
  const auto& first = group.answers.front();
  auto shared = index(first.size());
  for (std::size_t i = 0; i < group.answers.size(); ++i) {
    const auto& read = group.read[i];
    if (read.empty() || read.front().begin != 0) return;
    const auto same = std::ranges::mismatch(first, group.answers[i]).in1 - first.begin();
    shared = std::min({shared, read.front().end, index(same)});
  }
  group.prompt.insert(group.prompt.end(), first.begin(), first.begin() + shared);
  for (std::size_t i = 0; i < group.answers.size(); ++i) {
    auto& answer = group.answers[i];
    auto& read = group.read[i];
    answer.erase(answer.begin(), answer.begin() + shared);
    for (auto& range : read) range = {std::max(index(0), range.begin - shared), range.end - shared};
    if (read.front().end == 0) read.erase(read.begin());
  }
}

packed_groups pack_groups(std::span<const token_group> groups) {
  packed_groups packed;
  auto& [tokens, targets] = packed;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].prompt.empty()) refuse(g, "a prompt of one token or more, got none");
    if (groups[g].answers.empty()) refuse(g, "one answer or more, got none");
  }
  const auto shared = common_prefix(groups);
  if (shared > 0) append(tokens, std::span(groups.front().prompt).first(shared), -1);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto& group = groups[g];
    if (!group.read.empty() && group.read.size() != group.answers.size())
      refuse(g, "ranges of read tokens for each of " + std::to_string(group.answers.size()) +
                    " answers or for none, got " + std::to_string(group.read.size()));
    const auto prompt = index(tokens.lengths.size());
    append(tokens, std::span(group.prompt).subspan(shared), shared > 0 ? 0 : -1);
    const auto before = index(tokens.ids.size()) - 1;  // the row that predicts the first tokens
    for (std::size_t a = 0; a < group.answers.size(); ++a) {
      const auto& answer = group.answers[a];
      if (answer.empty()) refuse(g, "tokens in answer " + std::to_string(a) + ", got none");
      const auto begin = index(tokens.ids.size());
      append(tokens, answer, prompt);
      const auto read = group.read.empty() ? std::span<const token_range>() : group.read[a];
      if (!add_targets(targets, answer, read, before, begin))
        refuse(g, "of answer " + std::to_string(a) +
                      " ranges of read tokens in order, and others to score, got " +
                      std::to_string(read.size()) + " ranges in " + std::to_string(answer.size()) +
                      " tokens");
    }
  }
  return packed;
}

token_scores answer_scores(const model_config& config, const model_weights& weights,
                           std::span<const token_group> groups, const group_options& options) {
  const auto packed = pack_groups(groups);
  auto log_probs = options.log_probs;
  log_probs.compute = options.forward.compute;
  return token_log_probs(config, weights,
                         packed_hidden(config, weights, packed.tokens, options.forward),
                         packed.targets, log_probs);
}

at::Tensor answer_log_probs(const model_config& config, const model_weights& weights,
                            std::span<const token_group> groups, const group_options& options) {
  return answer_scores(config, weights, groups, options).log_probs;
}

}  // namespace troupe::llm

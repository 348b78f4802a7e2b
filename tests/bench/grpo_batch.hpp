#pragma once
// The batches of GRPO that are measured.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "actors/llm/training/token_groups.hpp"

namespace troupe::grpo_batch {

struct shape {
  std::size_t groups, answers, answer_tokens, prompt_tokens;

  std::size_t sampled_tokens() const { return groups * answers * answer_tokens; }
};

inline constexpr shape short_answers{
    .groups = 8, .answers = 8, .answer_tokens = 8, .prompt_tokens = 70};
/// One group of eight, as TRL's defaults have it.
inline constexpr shape long_answers{
    .groups = 1, .answers = 8, .answer_tokens = 256, .prompt_tokens = 70};

inline std::vector<llm::token_id> some_tokens(std::size_t count, std::size_t seed) {
  std::vector<llm::token_id> ids;
  for (std::size_t i = 0; i < count; ++i)
    ids.push_back(static_cast<llm::token_id>((i + 101 * seed) * 977 % 49152));
  return ids;
}

/// Groups of made-up tokens. Their prompts differ from the first token on.
inline std::vector<llm::token_group> made_up_groups(const shape& of) {
  std::vector<llm::token_group> batch;
  for (std::size_t g = 0; g < of.groups; ++g) {
    llm::token_group group{some_tokens(of.prompt_tokens, g), {}};
    for (std::size_t a = 0; a < of.answers; ++a)
      group.answers.push_back(some_tokens(of.answer_tokens, 1000 + of.answers * g + a));
    batch.push_back(std::move(group));
  }
  return batch;
}

/// A group as TRL computes it: the prompt stands before each answer, and no two rows share a token.
/// The targets are those of pack_groups, in the same order.
inline llm::packed_groups repeat_prompt(const llm::token_group& group) {
  llm::packed_groups packed;
  auto& [tokens, targets] = packed;
  for (const auto& answer : group.answers) {
    tokens.ids.insert(tokens.ids.end(), group.prompt.begin(), group.prompt.end());
    for (const auto id : answer) {
      targets.rows.push_back(std::int64_t(tokens.ids.size()) - 1);
      targets.ids.push_back(id);
      tokens.ids.push_back(id);
    }
    tokens.lengths.push_back(std::int64_t(group.prompt.size() + answer.size()));
  }
  return packed;
}

}  // namespace troupe::grpo_batch

#pragma once
// Groups of answers to prompts and their log-probabilities, for GRPO and warm starts.

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "actors/llm/tokenizer/token_range.hpp"
#include "actors/llm/training/token_log_probs.hpp"

namespace troupe::llm {

/// A prompt and the answers to it as token ids, without padding.
struct token_group {
  std::vector<token_id> prompt;
  std::vector<std::vector<token_id>> answers;
  /// For each answer, in order, the ranges of tokens that the model read in between, such as the
  /// texts of an environment. They are not scored, but later tokens are predicted from them. Empty
  /// means that no answer has any.
  std::vector<std::vector<token_range>> read = {};
};

/// Moves the tokens with which all answers of the group begin to the end of its prompt. Only tokens
/// that were read are moved: each answer must begin with a range of `read`, or nothing happens.
void share_prompt(token_group& group);

/// Groups as packed documents. The beginning that all prompts share is one document, the rest of
/// each prompt is a child of it, and the answers are children of their prompt. The targets are the
/// sampled tokens of the answers, in the order of groups, answers and tokens. The last token of an
/// answer is scored and predicts nothing. Throws std::invalid_argument that names a group without a
/// prompt or answers, an answer without tokens to score, and ranges of `read` that are not in order
/// or not within the answer.
struct packed_groups {
  packed_tokens tokens;
  target_tokens targets;
};
packed_groups pack_groups(std::span<const token_group> groups);

struct group_options {
  forward_options forward;
  log_prob_options log_probs;  ///< `compute` is ignored; forward's is used
};

/// The log-probabilities and entropies [N] of the scored tokens of all answers, group by group,
/// each given all tokens before it. The prompt of a group is computed once. The result is
/// differentiable in the weights. Throws like pack_groups, packed_hidden and token_log_probs.
token_scores answer_scores(const model_config& config, const model_weights& weights,
                           std::span<const token_group> groups, const group_options& options = {});

/// Only the log-probabilities of answer_scores.
at::Tensor answer_log_probs(const model_config& config, const model_weights& weights,
                            std::span<const token_group> groups, const group_options& options = {});

}  // namespace troupe::llm

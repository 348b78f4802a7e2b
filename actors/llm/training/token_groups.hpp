#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "actors/llm/tokenizer/token_range.hpp"
#include "actors/llm/training/token_log_probs.hpp"

namespace troupe::llm {

/// A prompt and what was answered to it, as token ids. Not one of the answers is padded.
struct token_group {
  std::vector<token_id> prompt;
  std::vector<std::vector<token_id>> answers;
  /// Of each answer, in order: tokens that the model was given in between, as what an environment
  /// said. Those after them are predicted from them, and they are not scored. Empty: no answer has
  /// any.
  std::vector<std::vector<token_range>> read = {};
};

/// Groups as documents: what all prompts begin with once, each prompt once, its answers going on
/// from it; and their answers' tokens as what is scored, in order: groups, answers, tokens. The
/// last token of an answer is scored and predicts nothing. Throws std::invalid_argument naming a
/// group without prompt or answers, an answer without tokens to score, and ranges of `read` that
/// aren't its own, in order.
struct packed_groups {
  packed_tokens tokens;
  target_tokens targets;
};
packed_groups pack_groups(std::span<const token_group> groups);

struct group_options {
  forward_options forward;
  log_prob_options log_probs;  ///< its `compute` is forward's
};

/// Log-probabilities (and entropies) of all answers' scored tokens [N], one group's after
/// another's, given what stands before them. A group's prompt is computed once. Differentiable in
/// the weights. Throws as pack_groups, packed_hidden and token_log_probs.
token_scores answer_scores(const model_config& config, const model_weights& weights,
                           std::span<const token_group> groups, const group_options& options = {});

/// The log-probabilities alone.
at::Tensor answer_log_probs(const model_config& config, const model_weights& weights,
                            std::span<const token_group> groups, const group_options& options = {});

}  // namespace troupe::llm

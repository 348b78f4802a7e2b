#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/llm/generator/sampler.hpp"
#include "actors/llm/tokenizer/bpe.hpp"

namespace troupe::llm {

/// What is to be written.
struct generation_request {
  std::vector<token_id> prompt;   ///< at least one token, and shorter than the model's context
  std::int64_t max_tokens = 256;  ///< of the answer, at least 1; the context ends it, too
  sampling_options sampling;
  bool stop_at_eos = true;              ///< the model's own stop tokens end the answer
  std::vector<token_id> stop_ids;       ///< and these; the answer keeps the token
  std::vector<std::string> stop_texts;  ///< or a text, also across tokens; the answer keeps them
  /// Requests of a higher one get free slots first; those that run already go on.
  std::int32_t priority = 0;
};

enum class finish_reason { stop_id, stop_text, length };

/// An answer, token by token: what was sampled is never encoded again.
struct completion {
  std::vector<token_id> tokens;
  std::vector<double> log_probs;  ///< of each token as it was drawn: see drawn_token
  /// Of the weights whose logits each token was drawn from; never falling. Keys and values of what
  /// comes before it may be of older ones.
  std::vector<std::int64_t> versions;
  finish_reason finish = finish_reason::length;
  /// UTF-8, without special tokens and without the stop text; empty where the generator knows no
  /// texts.
  std::string text;
  std::uint64_t seed = 0;  ///< that it was drawn by
  std::int64_t prompt_tokens = 0;
  /// Tokens of the prompt that were computed for this answer: none where another one of its group
  /// had them.
  std::int64_t prompt_tokens_computed = 0;

  std::int64_t first_version() const { return versions.front(); }
  std::int64_t last_version() const { return versions.back(); }
};

}  // namespace troupe::llm

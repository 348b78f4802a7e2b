#pragma once
// The request and the answer of text generation, for generator and generation_engine.

#include <cstdint>
#include <string>
#include <vector>

#include "actors/llm/generator/sampler.hpp"
#include "actors/llm/tokenizer/bpe.hpp"

namespace troupe::llm {

/// A request for an answer to a prompt.
struct generation_request {
  std::vector<token_id> prompt;   ///< at least one token, and shorter than the model's context
  std::int64_t max_tokens = 256;  ///< the most tokens to sample, at least 1, within the context
  sampling_options sampling = {};
  bool stop_at_eos = true;  ///< true if the model's own stop tokens end the answer
  /// further tokens that end the answer, which keeps the token
  std::vector<token_id> stop_ids = {};
  /// Texts that end the answer, also across tokens. The answer's tokens include them.
  std::vector<std::string> stop_texts = {};
  /// Requests with a higher priority get free slots first. Running requests are not interrupted.
  std::int32_t priority = 0;
};

/// The reason why an answer ended: a stop token, a stop text, or a limit of tokens.
enum class finish_reason { stop_id, stop_text, length };

/// An answer with one entry for each sampled token, so that it need not be encoded again.
struct completion {
  std::vector<token_id> tokens;
  std::vector<double> log_probs;  ///< one for each token, when it was drawn; see drawn_token
  /// The version of the weights from whose logits each token was drawn, in ascending order. The
  /// keys and values of earlier tokens may come from older weights.
  std::vector<std::int64_t> versions;
  finish_reason finish = finish_reason::length;
  /// The text in UTF-8, without special tokens and without the stop text. Empty if the generator
  /// has no token_texts.
  std::string text;
  std::uint64_t seed = 0;          ///< the seed of sampling
  std::int64_t prompt_tokens = 0;  ///< the number of tokens in the prompt
  /// The number of the prompt's tokens that were computed for this answer. It is 0 if they were
  /// computed for another answer of the group.
  std::int64_t prompt_tokens_computed = 0;

  std::int64_t first_version() const { return versions.front(); }
  std::int64_t last_version() const { return versions.back(); }
};

}  // namespace troupe::llm

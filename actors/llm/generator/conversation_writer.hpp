#pragma once
// A writer of one conversation without actors, for `troupe chat`.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/llm/generator/sampler.hpp"
#include "actors/llm/model/decoder.hpp"

namespace troupe::llm {

/// One conversation, in which the model reads texts and writes answers token by token. Earlier
/// tokens are not computed again. `troupe chat` uses it; generation_engine writes many texts at
/// once. Only one thread may use a writer.
class conversation_writer {
 public:
  /// Throws std::invalid_argument like check_sampling.
  conversation_writer(std::shared_ptr<const packed_weights> weights, sampling_options sampling);

  /// Adds tokens that the model reads. Throws std::invalid_argument and reads nothing if there are
  /// no tokens, an id is not the model's, or the text would reach the end of the model's context.
  void read(std::span<const token_id> tokens);

  /// Samples the next token. `read` must have been called before. Throws like `read`.
  token_id write();

  /// Begins another text: nothing that was read or written is left.
  void forget();

  std::int64_t length() const { return sequence_.length() + std::ssize(pending_); }

 private:
  decoder decoder_;
  sampling_options sampling_;
  sampler sampler_;
  kv_sequence sequence_;
  std::vector<token_id> text_;     // all tokens so far
  std::vector<token_id> pending_;  // tokens that are not in the sequence yet
};

}  // namespace troupe::llm

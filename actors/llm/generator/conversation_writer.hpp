#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/llm/generator/sampler.hpp"
#include "actors/llm/model/decoder.hpp"

namespace troupe::llm {

/// One text that grows from both sides: what is read, and what the model writes, token by token.
/// What was said before is not computed again. For a terminal; many texts at once are a
/// generation_engine's. Of one thread.
class conversation_writer {
 public:
  /// Throws std::invalid_argument as check_sampling does.
  conversation_writer(std::shared_ptr<const packed_weights> weights, sampling_options sampling);

  /// Throws std::invalid_argument for no token, an id that isn't the model's, and where the text
  /// would reach the end of the model's context; nothing is read then.
  void read(std::span<const token_id> tokens);

  /// The next token. Something was read before. Throws as `read` does.
  token_id write();

  std::int64_t length() const { return sequence_.length() + std::ssize(pending_); }

 private:
  decoder decoder_;
  sampling_options sampling_;
  sampler sampler_;
  kv_sequence sequence_;
  std::vector<token_id> pending_;  // not in the sequence yet
};

}  // namespace troupe::llm

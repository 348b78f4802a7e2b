#pragma once
// Ranges of tokens that a model has read and not sampled.

#include <cstdint>
#include <span>
#include <vector>

#include "actors/llm/tokenizer/bpe.hpp"

namespace troupe::llm {

/// The tokens from `begin` to `end` - 1 of a list.
struct token_range {
  std::int64_t begin = 0, end = 0;
};

/// Adds `more` to a list of tokens, and its range to `read`.
inline void append_read(std::vector<token_id>& tokens, std::vector<token_range>& read,
                        std::span<const token_id> more) {
  const auto begin = std::ssize(tokens);
  tokens.insert(tokens.end(), more.begin(), more.end());
  read.push_back({begin, std::ssize(tokens)});
}

}  // namespace troupe::llm

#pragma once
// The texts of tokens, which a generator needs for stop texts and for the texts of its answers.

#include <cstdint>
#include <string>
#include <vector>

#include "actors/llm/tokenizer/tokenizer.hpp"

namespace troupe::llm {

/// The texts of a vocabulary's tokens by id, which is all that a generator needs from a tokenizer.
/// Empty means that the generator gives ids only.
struct token_texts {
  std::vector<std::string> bytes;  ///< the UTF-8 bytes of each token; empty for special tokens
};

token_texts texts_of(const tokenizer& tokens);

}  // namespace troupe::llm

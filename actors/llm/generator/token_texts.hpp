#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/llm/tokenizer/tokenizer.hpp"

namespace troupe::llm {

/// What the tokens of a vocabulary say, by id: all that a generator needs of a tokenizer. Empty:
/// it is asked for ids alone.
struct token_texts {
  std::vector<std::string> bytes;  ///< parts of UTF-8; nothing for special tokens
};

token_texts texts_of(const tokenizer& tokens);

}  // namespace troupe::llm

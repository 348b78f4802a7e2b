#pragma once
// A tokenizer whose tokens are the 256 bytes, for small models that are trained from random
// weights: it reads and writes any text.

#include <string_view>

#include "actors/llm/tokenizer/tokenizer.hpp"

namespace troupe::llm {

/// The tokens of the bytes model. The ids 0 .. 255 are the bytes. They are followed by the special
/// tokens <|end|>, <|system|>, <|user|>, <|assistant|> and <|tool|>.
tokenizer_parts byte_tokenizer_parts();

/// The chat template of chat_style::bytes, in Jinja: each message is the token of its role, its
/// content and <|end|>.
std::string_view byte_chat_template();

}  // namespace troupe::llm

#pragma once
// A language model of 22 letters that learns the tasks of problem.hpp in seconds: the whole flow of
// a large one, for tests, examples and first steps.

#include "actors/llm/model/model_config.hpp"
#include "actors/llm/tokenizer/tokenizer.hpp"

namespace troupe::llm {

/// The end of a text (id 0, which is no text of a user's), and 0-9 + - * = > a-f, a token each.
tokenizer_parts letters_tokenizer_parts();
tokenizer letters_tokenizer();

/// 0.79 million weights: Llama with four layers of width 128.
model_config letters_model();

}  // namespace troupe::llm

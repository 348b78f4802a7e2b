#pragma once
// The letters model: a language model of 22 letters that learns the tasks of problem.hpp in
// seconds. Tests, examples and first steps use it in the same way as a large model.

#include "actors/llm/model/model_config.hpp"
#include "actors/llm/tokenizer/tokenizer.hpp"

namespace troupe::llm {

/// The tokens of the letters model: the end of a text, which is a special token with id 0, and one
/// token for each of 0-9 + - * = > a-f.
tokenizer_parts letters_tokenizer_parts();
tokenizer letters_tokenizer();

/// The shape of the letters model: Llama with four layers of width 128 and 0.79 million weights.
model_config letters_model();

}  // namespace troupe::llm

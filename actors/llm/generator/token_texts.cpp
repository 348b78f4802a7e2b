#include "actors/llm/generator/token_texts.hpp"

namespace troupe::llm {

token_texts texts_of(const tokenizer& tokens) {
  token_texts texts;
  for (token_id id = 0; id < tokens.size(); ++id) {
    texts.bytes.emplace_back(tokens.is_special(id) ? std::string_view() : tokens.bytes_of(id));
  }
  return texts;
}

}  // namespace troupe::llm

#include "actors/llm/tokenizer/byte_tokenizer.hpp"

#include "actors/llm/tokenizer/byte_alphabet.hpp"

namespace troupe::llm {

tokenizer_parts byte_tokenizer_parts() {
  tokenizer_parts parts;
  for (int byte = 0; byte < 256; ++byte)
    parts.tokens.push_back(letter_of_byte(static_cast<unsigned char>(byte)));
  for (const char* text : {"<|end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>"}) {
    parts.added.push_back(
        {.id = static_cast<token_id>(parts.tokens.size()), .text = text, .special = true});
    parts.tokens.emplace_back();
  }
  return parts;
}

std::string_view byte_chat_template() {
  return "{% for message in messages %}"
         "{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}"
         "{% endfor %}"
         "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}";
}

}  // namespace troupe::llm

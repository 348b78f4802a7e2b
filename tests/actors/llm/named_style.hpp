#pragma once
// The chat styles of the families of models that the tests speak to.

#include <string>

#include "actors/llm/files/input_file.hpp"
#include "actors/llm/tokenizer/chat_template.hpp"
#include "tests/paths.hpp"

namespace troupe::testing {

/// The style of SmolLM2 as published, and of templates of our own that write what the published
/// ones of other families do: llama3, llama3.2, qwen2.5 and qwen3.
inline llm::chat_style style_named(const std::string& name) {
  const auto path = name == "smollm2" ? std::string("tokenizers/smollm/chat_template.jinja")
                                      : "chat_templates/" + name + ".jinja";
  const auto text = llm::read_whole_file(source_path("tests/fixtures/llm/" + path), 1 << 20);
  return llm::chat_style(text, name, {{"bos_token", "<|begin_of_text|>"}});
}

}  // namespace troupe::testing

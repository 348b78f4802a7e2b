#pragma once

#include <filesystem>

#include "actors/llm/model/read_model.hpp"
#include "actors/llm/tokenizer/read_tokenizer.hpp"
#include "tests/paths.hpp"

namespace troupe::testing {

/// A chat model of random weights, as small as they come.
inline void write_chat_model(const std::filesystem::path& folder) {
  const std::filesystem::path words = testing::source_path("tests/fixtures/llm/tokenizers/smollm");
  const auto tokens = llm::read_tokenizer(words);
  const llm::model_config config{.hidden_size = 64,
                                 .intermediate_size = 128,
                                 .layers = 2,
                                 .heads = 4,
                                 .kv_heads = 4,
                                 .head_dim = 16,
                                 .vocab_size = tokens.size(),
                                 .max_positions = 512,
                                 .tied_embeddings = true,
                                 .eos_tokens = {tokens.find("<|im_end|>").value()}};
  llm::write_model(folder, config, llm::random_weights(config, 3));
  for (const auto* name : {"tokenizer.json", "chat_template.jinja"}) {
    std::filesystem::copy_file(words / name, folder / name);
  }
}

}  // namespace troupe::testing

// The code of docs/algorithms/sft.md.

// readme: sft_learner
#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/model/read_model.hpp"
#include "actors/llm/tokenizer/read_tokenizer.hpp"
#include "algorithms/language_models/sft/sft_learner.hpp"

namespace llm = troupe::llm;

/// Takes one step on all examples of a file, and returns the loss before it.
double take_step(const std::string& model, const std::string& data) {
  const auto read = llm::read_model(model);  // a Hugging Face folder, or a GGUF file
  const auto tokens = llm::read_tokenizer(model);
  const auto examples = troupe::read_sft_examples(data, {.tokens = &tokens,
                                                         .style = llm::read_chat_style(model),
                                                         .max_tokens = read.config.max_positions});
  troupe::sft_learner learner(read.config, {.lr = 2e-5},
                              llm::flatten_weights(read.config, read.weights));
  return learner.update(examples)["train/loss"];
}
// readme: end

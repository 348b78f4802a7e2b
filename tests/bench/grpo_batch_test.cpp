#include "actors/torch/torch.hpp"

#include "tests/bench/grpo_batch.hpp"

#include "tests/actors/llm/small_models.hpp"
#include "tests/test.hpp"

namespace troupe::grpo_batch {
namespace {

std::int64_t computed_tokens(const llm::model_config& config, const llm::model_weights& weights,
                             const llm::packed_groups& batch) {
  return llm::packed_hidden(config, weights, batch.tokens).size(0);
}

llm::model_config small_with_every_token() {
  auto config = llm::small_model(llm::model_family::llama);
  config.vocab_size = 49152;
  config.max_positions = 128;
  return config;
}

TEST_CASE("GRPO's benchmark: a prompt is computed once, or really before each of its answers") {
  const auto config = small_with_every_token();
  const auto flat = llm::lively_weights(config);
  const auto weights = llm::weights_in(config, flat);
  const auto groups = made_up_groups(short_answers);
  CHECK(computed_tokens(config, weights, llm::pack_groups(groups)) == 8 * (70 + 8 * 8));
  std::int64_t repeated = 0;
  for (const auto& group : groups)
    repeated += computed_tokens(config, weights, repeat_prompt(group));
  CHECK(repeated == 64 * (70 + 8));
}

TEST_CASE("GRPO's benchmark: the gradient is the same, however often a prompt is computed") {
  const auto config = small_with_every_token();
  auto once = llm::train_weights(config, llm::lively_weights(config));
  auto again = llm::train_weights(config, llm::lively_weights(config));
  const auto groups =
      made_up_groups({.groups = 2, .answers = 3, .answer_tokens = 4, .prompt_tokens = 5});
  const auto learn = [&](llm::trained_weights& model, const llm::packed_groups& batch) {
    const auto hidden = llm::packed_hidden(config, model.weights, batch.tokens);
    const auto scores = llm::token_log_probs(config, model.weights, hidden, batch.targets);
    scores.log_probs.sum().backward();
  };
  learn(once, llm::pack_groups(groups));
  for (const auto& group : groups) learn(again, repeat_prompt(group));
  const double size = once.gradient.norm().item<double>();
  CHECK(size > 1.0);
  CHECK((once.gradient - again.gradient).norm().item<double>() < 1e-4 * size);
}

}  // namespace
}  // namespace troupe::grpo_batch

#include "actors/torch/torch.hpp"

#include "actors/llm/generator/generation_engine.hpp"
#include "actors/random/action_random.hpp"
#include "algorithms/language_models/sft/sft_learner.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

// A model of digits: ids 0 to 9 are themselves, 10 is ">", 11 ends an answer.
constexpr llm::token_id ask = 10, end = 11;

llm::model_config digits_model() {
  return {.hidden_size = 64,
          .intermediate_size = 128,
          .layers = 2,
          .heads = 4,
          .kv_heads = 4,
          .head_dim = 16,
          .vocab_size = 12,
          .max_positions = 16,
          .rms_norm_eps = 1e-5,
          .tied_embeddings = true,
          .eos_tokens = {end}};
}

std::vector<llm::token_id> digits_of(int number) {
  std::vector<llm::token_id> ids;
  for (const char c : std::to_string(number)) ids.push_back(c - '0');
  return ids;
}

/// "47>" and "11".
sft_example sum_of_digits(int number) {
  sft_example made{digits_of(number), digits_of(number / 10 + number % 10)};
  made.prompt.push_back(ask);
  made.answer.push_back(end);
  return made;
}

/// The share of numbers whose likeliest answer is right.
double greedy_accuracy(const at::Tensor& parameters, const std::vector<sft_example>& asked) {
  const auto config = digits_model();
  llm::generation_engine engine(llm::pack_weights(config, llm::weights_in(config, parameters)), 0,
                                {.slots = 100});
  std::vector<llm::generation_engine::ticket> tickets;
  for (const auto& one : asked)
    tickets.push_back(
        engine.submit({.prompt = one.prompt, .max_tokens = 4, .sampling = {.temperature = 0.0}}));
  while (engine.step()) {
  }
  double right = 0;
  for (std::size_t i = 0; i < asked.size(); ++i)
    right += engine.take(tickets[i])[0].tokens == asked[i].answer;
  return right / double(asked.size());
}

TEST_CASE("sft: a tiny model learns to add the digits of two-digit numbers") {
  std::vector<sft_example> all;
  for (int number = 10; number < 100; ++number) all.push_back(sum_of_digits(number));
  const auto config = digits_model();
  const auto start = llm::flatten_weights(config, llm::random_weights(config, 1));
  const sft_options options{
      .lr = 4e-3, .schedule = lr_decay::cosine, .warmup_updates = 10, .total_updates = 200};
  sft_learner learner(config, options, start);
  action_random random(1);
  for (int update = 0; update < options.total_updates; ++update) {
    std::vector<sft_example> batch;
    for (int i = 0; i < 32; ++i) batch.push_back(all[random.below(all.size())]);
    learner.update(batch);
  }
  CHECK(greedy_accuracy(start, all) < 0.1);
  CHECK(greedy_accuracy(learner.parameters(), all) >= 0.9);
}

}  // namespace
}  // namespace troupe

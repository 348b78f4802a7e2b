#include "actors/torch/torch.hpp"

#include "algorithms/language_models/sft/sft_learner.hpp"

#include <algorithm>
#include <numeric>

namespace troupe {

sft_learner::sft_learner(llm::tuned_model model, const sft_options& options, std::uint64_t seed)
    : language_model_learner("sft", std::move(model), checked_options(options, "sft"),
                             options.lr_of_updates(), seed),
      options_(options) {}

sft_learner::sft_learner(llm::model_config config, const sft_options& options, at::Tensor start)
    : sft_learner(llm::tuned_model(std::move(config), start.clone()), options, 0) {}

sft_learner::sft_learner(llm::model_config config, const sft_options& options, at::Tensor base,
                         llm::lora_options adapters, std::uint64_t seed)
    : sft_learner(
          llm::tuned_model(config, base, adapters, llm::initial_adapters(config, adapters, seed)),
          options, seed) {}

void sft_learner::start_from(std::span<const float> acting, const named_tensors&) {
  expect_size_of(acting);
  std::ranges::copy(acting, trained().begin());
}

void sft_learner::check_batch(const std::vector<sft_example>& examples) const {
  if (examples.empty()) throw std::invalid_argument("sft: expected a batch of examples, got none");
  for (const auto& one : examples) check(one);
}

void sft_learner::train(const std::vector<sft_example>& examples) {
  const auto tokens = answer_tokens(examples);
  std::int64_t prompt_tokens = 0;
  for (const auto& one : examples) prompt_tokens += std::ssize(one.prompt);
  clear_gradient();
  double sum = 0.0;
  for (const auto& some : micro_batches(examples, options_)) {
    const auto loss = -answer_log_probs(current(), some, options_).sum() / double(tokens);
    loss.backward();
    sum += loss.item<double>();
  }
  const double norm = take_step(sum);
  report().trained_rows = tokens;
  report().metrics = {{"train/loss", sum},
                      {"train/grad_norm", norm},
                      {"train/learning_rate", report().learning_rate},
                      {"train/trained_tokens", double(tokens)},
                      {"train/prompt_tokens", double(prompt_tokens)},
                      {"train/skipped_steps", double(report().skipped_steps)}};
}

double sft_learner::loss_of(std::span<const sft_example> examples) const {
  if (examples.empty()) throw std::invalid_argument("sft: expected examples, got none");
  const auto losses = losses_of(current(), examples, options_);
  return std::accumulate(losses.begin(), losses.end(), 0.0) /
         static_cast<double>(answer_tokens(examples));
}

}  // namespace troupe

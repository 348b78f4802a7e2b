#include "actors/torch/torch.hpp"

#include "algorithms/language_models/sft/sft_loss.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "actors/llm/training/token_log_probs.hpp"
#include "algorithms/learner/micro_batches.hpp"

namespace troupe {
namespace {

/// Examples as packed documents, with their answers' tokens as targets.
struct packed_examples {
  llm::packed_tokens tokens;
  llm::target_tokens targets;
};

packed_examples pack(std::span<const sft_example> examples) {
  packed_examples packed;
  auto& ids = packed.tokens.ids;
  for (const auto& one : examples) {
    check(one);
    const auto& [prompt, answer] = one;
    ids.insert(ids.end(), prompt.begin(), prompt.end());
    for (const auto id : answer) {
      packed.targets.rows.push_back(std::int64_t(ids.size()) - 1);
      packed.targets.ids.push_back(id);
      ids.push_back(id);
    }
    packed.tokens.lengths.push_back(std::int64_t(prompt.size() + answer.size()));
  }
  return packed;
}

}  // namespace

void check(const sft_example& one) {
  if (!one.prompt.empty() && !one.answer.empty()) return;
  throw std::invalid_argument(
      fmt::format("sft: expected examples with a prompt and an answer, got {} and {} tokens",
                  one.prompt.size(), one.answer.size()));
}

std::int64_t answer_tokens(std::span<const sft_example> examples) {
  std::int64_t count = 0;
  for (const auto& one : examples) count += std::int64_t(one.answer.size());
  return count;
}

std::vector<std::span<const sft_example>> micro_batches(std::span<const sft_example> examples,
                                                        const sft_options& options) {
  return detail::micro_batches(examples, options.micro_tokens,
                               [](const sft_example& one) { return one.tokens(); });
}

at::Tensor answer_log_probs(const sft_model& model, std::span<const sft_example> examples,
                            const sft_options& options) {
  const auto packed = pack(examples);
  const auto hidden = llm::packed_hidden(model.config, model.weights, packed.tokens,
                                         {.compute = options.compute,
                                          .recompute_layers = options.recompute_layers,
                                          .adapters = model.adapters});
  return llm::token_log_probs(model.config, model.weights, hidden, packed.targets,
                              {.compute = options.compute})
      .log_probs;
}

std::vector<double> losses_of(const sft_model& model, std::span<const sft_example> examples,
                              const sft_options& options) {
  const at::NoGradGuard off;
  std::vector<double> losses;
  for (const auto& some : micro_batches(examples, options)) {
    const auto found = answer_log_probs(model, some, options);
    std::int64_t begin = 0;
    for (const auto& one : some) {
      const auto count = std::int64_t(one.answer.size());
      losses.push_back(-found.narrow(0, begin, count).sum().item<double>());
      begin += count;
    }
  }
  return losses;
}

}  // namespace troupe

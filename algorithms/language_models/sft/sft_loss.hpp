#pragma once
// The cross-entropy of examples under a model, for the learner and for evaluations.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "actors/llm/model/adapters.hpp"
#include "actors/llm/model/model_config.hpp"
#include "actors/llm/model/model_weights.hpp"
#include "algorithms/language_models/sft/config.hpp"
#include "algorithms/language_models/sft/sft_example.hpp"

namespace troupe {

/// A model whose loss is computed. It refers to its parts.
struct sft_model {
  const llm::model_config& config;
  const llm::model_weights& weights;
  const llm::adapter_weights* adapters = nullptr;  ///< null means none
};

/// Throws std::invalid_argument for an example without a prompt or an answer.
void check(const sft_example& one);

/// The number of tokens in the examples' answers, end tokens included.
std::int64_t answer_tokens(std::span<const sft_example> examples);

/// The examples in parts of at most options.micro_tokens, which go through the model at once.
std::vector<std::span<const sft_example>> micro_batches(std::span<const sft_example> examples,
                                                        const sft_options& options);

/// The log-probabilities of the answers' tokens, float [T], example by example. They are
/// differentiable in the weights. Throws std::invalid_argument for an example without a prompt or
/// an answer, and for tokens that the model doesn't have.
at::Tensor answer_log_probs(const sft_model& model, std::span<const sft_example> examples,
                            const sft_options& options);

/// The cross-entropy of each example, in nats, summed over the tokens of its answer and computed
/// without gradients. Throws like answer_log_probs.
std::vector<double> losses_of(const sft_model& model, std::span<const sft_example> examples,
                              const sft_options& options);

}  // namespace troupe

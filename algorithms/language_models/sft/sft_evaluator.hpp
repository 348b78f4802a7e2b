#pragma once
// The role that computes the loss of examples under given weights.

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "actors/evaluator/evaluator.hpp"
#include "actors/llm/training/lora.hpp"
#include "actors/weights/weight_store.hpp"
#include "algorithms/language_models/sft/sft_loss.hpp"

namespace troupe {

/// The network of a run. Its weights are those that a call is given, or adapters beside `base`.
struct sft_network {
  llm::model_config config;
  sft_options options;
  std::optional<llm::lora_options> adapters = {};  ///< none means that all weights are trained
  at::Tensor base = {};                            ///< the weights [P] beside adapters

  /// The model's weights [P] with the trained ones, adapters merged.
  at::Tensor merged(const at::Tensor& trained) const;
};

/// Computes the losses of examples.
class sft_evaluator {
 public:
  explicit sft_evaluator(sft_network network) : network_(std::move(network)) {}

  /// The cross-entropy of each example under these weights, in nats, summed over its answer's
  /// tokens.
  std::vector<double> losses(weights of, std::vector<sft_example> some) const;

 private:
  sft_network network_;
};

/// The evaluation with these losses. The score of an example is minus its mean cross-entropy by
/// token. The mean is over the tokens of all examples, so it is minus the loss of all of them in
/// one batch.
evaluation score_of_losses(const std::vector<sft_example>& examples,
                           const std::vector<double>& losses, std::int64_t version);

}  // namespace troupe

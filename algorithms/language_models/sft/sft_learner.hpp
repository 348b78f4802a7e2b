#pragma once
// The update rule of supervised fine-tuning, without actors: it takes examples and improves the
// weights.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/language_models/language_model_learner.hpp"
#include "algorithms/language_models/sft/config.hpp"
#include "algorithms/language_models/sft/sft_example.hpp"
#include "algorithms/language_models/sft/sft_loss.hpp"

namespace troupe {

/// Minimises the mean cross-entropy of a batch's answers by one step of AdamW in each update.
/// Examples are packed without padding (packed_tokens) into micro-batches whose gradients add up.
/// The loss is divided by the number of answer tokens in the whole batch. The same start and
/// batches give the same weights, bit for bit. The metrics are "train/loss", the mean cross-entropy
/// of the answers' tokens before the step, in nats; "train/grad_norm", the gradient's norm before
/// clipping; "train/trained_tokens", the number of tokens that are learned; and
/// "train/prompt_tokens", the number of those before them.
class sft_learner final : public language_model_learner<std::vector<sft_example>> {
 public:
  /// Trains all weights. `start` are the first weights [P]. Throws std::invalid_argument that names
  /// an option out of range.
  sft_learner(llm::model_config config, const sft_options& options, at::Tensor start);
  /// Trains LoRA adapters only, and leaves the weights `base` [P] as they are. The first adapters
  /// are drawn from the seed.
  sft_learner(llm::model_config config, const sft_options& options, at::Tensor base,
              llm::lora_options adapters, std::uint64_t seed);

  /// The mean cross-entropy of the examples' answers, in nats, without training on them.
  double loss_of(std::span<const sft_example> examples) const;

  /// The trained parameters: the weights [P], or the adapters [A].
  const at::Tensor& parameters() const { return model().trained(); }
  std::span<const float> acting() const override { return trained(); }
  void start_from(std::span<const float> acting, const named_tensors& beside) override;
  /// A copy of the model's weights [P] as they are now, with the adapters merged.
  at::Tensor model_parameters() const { return model().merged(); }

 private:
  sft_learner(llm::tuned_model model, const sft_options& options, std::uint64_t seed);

  /// Throws std::invalid_argument for a batch without examples, and for an example without a prompt
  /// or an answer.
  void check_batch(const std::vector<sft_example>& examples) const override;
  void train(const std::vector<sft_example>& examples) override;

  sft_model current() const { return {model().config(), model().weights(), model().adapters()}; }

  sft_options options_;
};

}  // namespace troupe

#pragma once
// Supervised fine-tuning's update rule, without actors: examples in, better weights out.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/training/lora.hpp"
#include "algorithms/language_models/sft/config.hpp"
#include "algorithms/language_models/sft/sft_example.hpp"
#include "algorithms/learner/skip_guard.hpp"

namespace troupe {

/// What an update did.
struct sft_report {
  double loss = 0.0;       ///< mean cross-entropy of the answers' tokens, in nats, before the step
  double grad_norm = 0.0;  ///< before clipping
  double learning_rate = 0.0;
  std::int64_t prompt_tokens = 0;
  std::int64_t answer_tokens = 0;   ///< those that are learned
  std::int64_t forward_passes = 0;  ///< micro-batches
  bool skipped = false;             ///< loss or gradient wasn't finite: nothing has changed
};

/// Everything but the parameters and what stays.
struct sft_learner_state {
  adam_state optimizer;
  std::int64_t updates = 0;
  int skipped_in_a_row = 0;
};

/// Minimises the mean cross-entropy of a batch's answers, a step of AdamW each update. Examples are
/// computed one after the other without padding (packed_tokens), in micro-batches whose gradients
/// add up; the divisor is the whole batch's number of tokens. The same start and batches give the
/// same weights, bit for bit.
class sft_learner {
 public:
  using batch = std::vector<sft_example>;
  using report = sft_report;

  /// `start`: the first weights [P]. Throws std::invalid_argument naming an option out of range.
  sft_learner(llm::model_config config, const sft_options& options, at::Tensor start);
  /// Trains adapters alone, beside weights [P] that stay; the seed draws the first adapters.
  sft_learner(llm::model_config config, const sft_options& options, at::Tensor base,
              llm::lora_options adapters, std::uint64_t seed);

  /// Throws std::invalid_argument for a batch without examples, and naming an example that can't be
  /// computed; non_finite_training after max_skipped_steps in a row.
  sft_report update(const batch& given);

  /// The mean cross-entropy of other examples' answers.
  double loss_of(const batch& given) const;

  /// What is trained: the weights [P], or the adapters [A].
  const at::Tensor& parameters() const;
  /// Throws std::invalid_argument for another shape.
  void load_parameters(const at::Tensor& parameters);
  /// The weights [P] of the model as it is now, adapters merged: a new block.
  at::Tensor model_parameters() const;

  sft_learner_state state() const;
  /// Throws std::invalid_argument if the state is of another number of parameters.
  void set_state(sft_learner_state state);
  /// The state as the bytes of a checkpoint.
  std::string save() const;
  /// Throws state_error, also if the state is of another number of parameters.
  void restore(const std::string& bytes);

 private:
  struct adapted {
    llm::lora_options options;
    llm::trained_adapters adapters;
  };

  at::Tensor log_probs(std::span<const sft_example> some) const;
  std::vector<std::span<const sft_example>> micro_batches(const batch& given) const;
  at::Tensor& gradient();

  llm::model_config config_;
  sft_options options_;
  llm::trained_weights trained_;  // of the model; with adapters its weights have no gradients
  std::optional<adapted> adapted_;
  adam optimizer_;
  std::int64_t updates_ = 0;
  detail::skip_guard skips_;
};

}  // namespace troupe

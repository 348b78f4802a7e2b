#pragma once
// The update rule of supervised fine-tuning, without actors: it takes examples and improves the
// weights.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/llm/training/tuned_model.hpp"
#include "actors/networks/named_tensors.hpp"
#include "algorithms/language_models/sft/config.hpp"
#include "algorithms/language_models/sft/sft_example.hpp"
#include "algorithms/language_models/sft/sft_loss.hpp"
#include "algorithms/learner/skip_guard.hpp"

namespace troupe {

/// The report of an update.
struct sft_report {
  double loss = 0.0;       ///< mean cross-entropy of the answers' tokens, in nats, before the step
  double grad_norm = 0.0;  ///< norm of the gradient before clipping
  double learning_rate = 0.0;
  std::int64_t prompt_tokens = 0;
  std::int64_t answer_tokens = 0;   ///< the number of tokens that are learned
  std::int64_t forward_passes = 0;  ///< the number of micro-batches
  bool skipped = false;  ///< loss or gradient wasn't finite, and the weights have not changed
};

/// The learner's state without the parameters and the frozen base weights.
struct sft_learner_state {
  adam_state optimizer;
  std::int64_t updates = 0;
  int skipped_in_a_row = 0;
};

/// Minimises the mean cross-entropy of a batch's answers by one step of AdamW in each update.
/// Examples are packed without padding (packed_tokens) into micro-batches whose gradients add up.
/// The loss is divided by the number of answer tokens in the whole batch. The same start and
/// batches give the same weights, bit for bit.
class sft_learner {
 public:
  struct batch {
    std::vector<sft_example> examples;
  };
  using report_type = sft_report;

  /// Trains all weights. `start` are the first weights [P]. Throws std::invalid_argument that names
  /// an option out of range.
  sft_learner(llm::model_config config, const sft_options& options, at::Tensor start);
  /// Trains LoRA adapters only, and leaves the weights `base` [P] as they are. The first adapters
  /// are drawn from the seed.
  sft_learner(llm::model_config config, const sft_options& options, at::Tensor base,
              llm::lora_options adapters, std::uint64_t seed);

  /// Takes one optimiser step. Throws std::invalid_argument for a batch without examples and for an
  /// example that can't be computed, which it names, and non_finite_training after
  /// max_skipped_steps in a row.
  sft_report update(const batch& given, double progress_remaining = 1.0,
                    std::optional<double> chosen_lr = {});

  /// The mean cross-entropy of the examples' answers, in nats, without training on them.
  double loss_of(std::span<const sft_example> examples) const;

  /// The trained parameters: the weights [P], or the adapters [A].
  const at::Tensor& parameters() const { return model_.trained(); }
  /// Throws std::invalid_argument for another shape.
  void load_parameters(const at::Tensor& parameters);
  /// A copy of the model's weights [P] as they are now, with the adapters merged.
  at::Tensor model_parameters() const { return model_.merged(); }

  std::span<const float> acting() const {
    return {parameters().data_ptr<float>(), static_cast<std::size_t>(parameters().numel())};
  }
  void start_from(std::span<const float> acting, const named_tensors&) {
    load_parameters(at::tensor(at::ArrayRef<float>(acting.data(), acting.size())));
  }

  sft_learner_state state() const;
  /// Throws std::invalid_argument if the state belongs to another number of parameters.
  void set_state(sft_learner_state state);
  /// The state as the bytes of a checkpoint.
  std::string save() const;
  /// Restores the bytes of `save`. Throws state_error if they are malformed or belong to another
  /// number of parameters.
  void restore(const std::string& bytes);

 private:
  sft_learner(llm::tuned_model model, const sft_options& options);

  sft_model model() const;

  llm::tuned_model model_;
  sft_options options_;
  adam optimizer_;
  std::int64_t updates_ = 0;
  detail::skip_guard skips_;
};

}  // namespace troupe
